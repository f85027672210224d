import { expect, picture, test, type } from "./test";

test("says what the gateway holds", async ({ page }) => {
  await page.goto("/app/about");
  await expect(page.getByText("shown at the start")).toBeVisible();
  await picture(page, "about");
});

test("is used by keyboard, and lists its keys", async ({ page }) => {
  await page.goto("/app/about");
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await expect(page).toHaveURL(/\/app\/notebooks$/);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("Go to Files");
  await picture(page, "help");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("goes back and forth, and knows what it does not know", async ({ page }) => {
  await page.goto("/app/run");
  await page.getByRole("link", { name: "Files" }).first().click();
  await page.getByRole("link", { name: "Tests" }).first().click();
  await page.goBack();
  await expect(page).toHaveURL(/\/app\/files$/);
  await page.goto("/app/nowhere");
  await expect(page.getByText("There is no such page")).toBeVisible();
});

test("remembers the colours that were chosen", async ({ page }) => {
  await page.goto("/app/run");
  await page.getByRole("button", { name: "Use dark colours" }).first().click();
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test.describe("a gateway that goes", () => {
  test.use({ expected: [[/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|503|429/], { scope: "test" }] as never });

  test("is waited for, and what ran is taken up again", async ({ page, gateway }) => {
    await page.goto("/app/notebooks/restart");
    await type(page, "Code of cell 1", "import time\nfor i in range(40):\n    print('beat', i, flush=True)\n    time.sleep(0.5)\n'the end'");
    await page.keyboard.press("ControlOrMeta+Enter");
    const cell = page.getByRole("article", { name: "Cell 1" });
    await expect(cell).toContainText("beat 3");
    await gateway.stop("SIGKILL");
    await expect(page.getByRole("alert")).toContainText("does not answer");
    await gateway.start();
    await expect(page.getByRole("alert")).toBeHidden();
    await expect(cell.locator(".value")).toHaveText("'the end'", { timeout: 90_000 });
    const lines = (await cell.locator(".stream").innerText()).trim().split("\n");
    expect(lines).toEqual(Array.from({ length: 40 }, (_, i) => `beat ${i}`));
  });
});
