import { expect, picture, test } from "./test";

test.setTimeout(240_000); // npm takes its time on a busy machine

const manifest = (test: string) => JSON.stringify({ name: "sample", version: "1.0.0", scripts: { test } });
const lock = JSON.stringify({ name: "sample", version: "1.0.0", lockfileVersion: 3, requires: true, packages: { "": { name: "sample", version: "1.0.0" } } });

test("watches a repository's tests to their end", async ({ page, git }) => {
  const repository = git.add("good", {
    "package.json": manifest("node --test"),
    "package-lock.json": lock,
    "test/sum.test.js": `const test = require("node:test"); const assert = require("node:assert");
test("adds", () => assert.equal(1 + 1, 2));
test("adds more", () => assert.equal(2 + 2, 4));
`,
  });
  await page.goto("/app/tests");
  await page.getByLabel("Repository").fill(repository);
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page).toHaveURL(/\/app\/tests\/.+/);
  await expect(page.getByText("passed", { exact: true }).first()).toBeVisible({ timeout: 150_000 });
  await expect(page.getByRole("region", { name: "Results" })).toContainText("2 passed");
  await page.getByLabel("Search in the log").fill("adds more");
  await expect(page.getByText("1 of 2")).toBeVisible();
  await picture(page, "tests-run");
  await page.reload();
  await expect(page.getByRole("region", { name: "Results" })).toContainText("2 passed");
});

test("puts failures first", async ({ page, git }) => {
  const repository = git.add("bad", {
    "package.json": manifest("node --test"),
    "package-lock.json": lock,
    "test/sum.test.js": `const test = require("node:test"); const assert = require("node:assert");
test("is <b>wrong</b>", () => assert.equal(1 + 1, 3));
test("is right", () => assert.ok(true));
`,
  });
  await page.goto("/app/tests");
  await page.getByLabel("Repository").fill(repository);
  await page.keyboard.press("Enter");
  const results = page.getByRole("region", { name: "Results" });
  await expect(results).toContainText("1 failed", { timeout: 150_000 });
  await expect(results).toContainText("is <b>wrong</b>");
  await picture(page, "tests-failed", { docs: "tests" });
  await page.getByRole("link", { name: "All runs" }).click();
  await expect(page.getByRole("link", { name: /bad/ }).first()).toBeVisible();
  await picture(page, "tests");
});

test("follows a run over a reload, and cancels it", async ({ page, git }) => {
  const repository = git.add("slow", {
    "package.json": manifest(`node -e "let i = 0; setInterval(() => console.log('tick', i++), 100)"`),
    "package-lock.json": lock,
  });
  await page.goto("/app/tests");
  await page.getByLabel("Repository").fill(repository);
  await page.keyboard.press("Enter");
  const log = page.getByRole("log");
  await expect(log).toContainText("tick 5", { timeout: 150_000 });
  await page.reload();
  await expect(log).toContainText("tick 20");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("canceled").first()).toBeVisible();
});

test("starts a run from what another one prepared", async ({ page, git }) => {
  const repository = git.add("kept", {
    "package.json": manifest(`node -e "console.log('node_modules' + ' are here')"`),
    "package-lock.json": lock,
  });
  await page.goto("/app/tests");
  const started = await page.request.post("/tests", {
    headers: { Accept: "application/json" },
    data: { repository, backup: { dir: "/workspace/app" } },
  });
  await page.goto(`/app/tests/${(await started.json()).id}`);
  await page.getByRole("button", { name: "Run from its backup" }).click({ timeout: 150_000 });
  await expect(page.getByRole("heading", { name: "From a backup" })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText("passed", { exact: true }).first()).toBeVisible({ timeout: 150_000 });
  await expect(page.getByRole("log")).toContainText("node_modules are here");
  await picture(page, "tests-restored");
  await page.getByRole("button", { name: "Run again" }).click();
  await expect(page.getByRole("button", { name: "Cancel" })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole("heading", { name: "From a backup" })).toBeVisible();
  await page.getByRole("link", { name: "All runs" }).click();
  await expect(page.getByRole("link", { name: /From a backup/ }).first()).toBeVisible();
});

test.describe("an address that is refused", () => {
  test.use({ expected: [[/403/], { scope: "test" }] as never });

  test("is told with what would allow it", async ({ page }) => {
    await page.goto("/app/tests");
    await page.getByLabel("Repository").fill("https://169.254.169.254/secret.git");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("alert")).toContainText("--egress");
  });
});
