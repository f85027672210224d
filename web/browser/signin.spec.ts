import { expect, test as base } from "@playwright/test";

import { Gateway } from "./gateway";
import { accessible, picture, type } from "./test";

const test = base.extend<object, { keyed: Gateway }>({
  keyed: [
    async ({}, use) => {
      const gateway = new Gateway(["--auth", "keys", "--quota", "default.sandboxes=1"]);
      await gateway.start();
      await use(gateway);
      await gateway.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ keyed }, use) => use(keyed.url),
});

test.setTimeout(300_000);

test("asks for a key once, and forgets it when told to", async ({ page, keyed, context }) => {
  await page.goto("/app/run");
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await expect(dialog).toBeVisible();
  await accessible(page);
  await picture(page, "signin");
  await page.getByLabel("Your key for this gateway").fill("sg_mistyped");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("alert")).toContainText("This is no key");

  await page.getByLabel("Your key for this gateway").fill(keyed.key("alice"));
  await page.getByRole("button", { name: "Sign in" }).click();
  const out = page.getByRole("button", { name: "Sign out alice" }).first();
  await expect(out).toBeVisible();
  await expect(page.getByText("Signed in as alice")).toBeVisible();
  await expect(dialog).toBeHidden();

  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toContain("sg_");
  expect(await page.evaluate(async () => (await fetch("/run", { method: "POST", body: "print(6 * 7)" })).text())).toContain("42");

  await page.reload();
  await expect(out).toBeVisible();
  await out.click();
  await expect(dialog).toBeVisible();
});

test("shows nobody what another visitor typed", async ({ page, keyed }) => {
  const editor = page.getByRole("textbox").first();
  await page.goto("/app/run");
  for (const [name, types, sees] of [["carol", "hers = 1", ""], ["dave", "his = 2", ""], ["carol", "", "hers = 1"]] as const) {
    await page.getByLabel("Your key for this gateway").fill(keyed.key(name));
    await page.keyboard.press("Enter");
    const out = page.getByRole("button", { name: `Sign out ${name}` }).first();
    await expect(out).toBeVisible();
    if (sees) await expect(editor).toContainText(sees);
    else await expect(editor).not.toContainText(/hers|his/);
    if (types) await editor.fill(types);
    await out.click();
    await expect(page.getByRole("dialog", { name: "Sign in" })).toBeVisible();
    await expect(editor).not.toContainText(/hers|his/);
  }
});

test("says why it refuses, and asks anew when a key was revoked", async ({ page, keyed }) => {
  const key = keyed.key("erin");
  await page.goto("/app/run");
  await page.getByLabel("Your key for this gateway").fill(key);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Sign out erin" }).first()).toBeVisible();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".badge.good")).toContainText("done");

  const said = page.locator(".note.bad");
  await page.goto("/app/notebooks/another");
  await type(page, "Code of cell 1", "1");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(said).toContainText("sandboxes"); // of which one is what the quota gives
  await expect(said).not.toContainText("The gateway answered");
  await picture(page, "refused");

  keyed.revoke(key);
  await page.getByRole("button", { name: "Run cell 1" }).click();
  await expect(page.getByRole("dialog", { name: "Sign in" })).toBeVisible();
  await expect(said).not.toContainText("The gateway answered");
});

test.describe("another origin", () => {
  test.use({ bypassCSP: true }); // ours would keep the page below from asking at all

  test("makes no use of the session", async ({ page, keyed }) => {
    await page.goto("/app/run");
    await page.getByLabel("Your key for this gateway").fill(keyed.key("bob"));
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Sign out bob" }).first()).toBeVisible();

    // Another port of this very host: cookies do not tell ports apart, and the
    // browser takes both for one site.
    const other = new Gateway([]);
    await other.start();
    try {
      await page.goto(`${other.url}/app/about`);
      const read = await page.evaluate(async (url) => {
        const ask = (path: string, init: RequestInit) =>
          fetch(url + path, { credentials: "include", ...init }).then((r) => r.text()).catch(() => "");
        return [await ask("/run", { method: "POST", body: "1", mode: "no-cors" }), await ask("/notebook", {})];
      }, keyed.url);
      expect(read).toEqual(["", ""]);
    } finally {
      await other.remove();
    }
    await page.goto("/app/run");
    const first = await page.evaluate(async () => (await fetch("/run", { method: "POST", body: "1" })).json());
    expect(first.executionCount).toBe(1); // nothing ran before
  });
});
