import { expect, tabTo, test } from "./test";

// Nothing here touches the mouse.

test("runs, stores, finds and opens by keyboard alone", async ({ page }) => {
  await page.goto("/app/run");
  const code = page.getByRole("textbox", { name: "Code in python" });
  await expect(code).toBeFocused();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText("print('typed')");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("region", { name: "Output" }).locator(".stream")).toHaveText("typed");

  // Tab indents in an editor, and leaves it after Escape.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await expect(code).not.toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await expect(code).toBeFocused();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await expect(page).toHaveURL(/\/app\/files$/);

  await tabTo(page, page.getByRole("button", { name: "New file" }));
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Its name; slashes make folders")).toBeFocused();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText("keys/poem.txt");
  await page.keyboard.press("Enter");
  const text = page.getByRole("textbox", { name: "Text of keys/poem.txt" });
  await expect(text).toBeVisible();
  await tabTo(page, text);
  await page.keyboard.insertText("no mouse was moved");
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("keys/poem.txt was saved")).toBeVisible();

  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.insertText("no mouse");
  const hit = page.locator('a.line[href$="poem.txt#L1"]');
  await expect(hit).toBeVisible();
  await tabTo(page, hit);
  await page.keyboard.press("Enter");
  await expect(page.locator(".cm-asked")).toContainText("no mouse was moved");
});

test("skips to the page, and reaches every app", async ({ page }) => {
  await page.goto("/app/about");
  await expect(page.getByText("shown at the start")).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the page" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  for (const [name, path] of [["Run", "run"], ["Notebooks", "notebooks"], ["Files", "files"], ["Tests", "tests"], ["Search", "search"]] as const) {
    await page.goto("/app/about");
    await tabTo(page, page.getByRole("link", { name, exact: true }));
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`/app/${path}$`));
  }
});
