import { expect, test, type } from "./test";

// What was typed outlives a visit to another page, the back button and a reload.

test("keeps code, cells and options", async ({ page }) => {
  await page.goto("/app/run");
  await type(page, "Code in python", "print('kept code')");
  await page.goto("/app/notebooks/kept");
  await type(page, "Code of cell 1", "'kept cell'");
  await page.getByRole("link", { name: "Tests" }).first().click();
  await page.getByLabel("Repository").fill("https://example.org/kept.git");
  await page.goBack();
  await expect(page.getByRole("textbox", { name: "Code of cell 1" })).toHaveText("'kept cell'");
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Code of cell 1" })).toHaveText("'kept cell'");
  await page.goto("/app/run");
  await expect(page.getByRole("textbox", { name: "Code in python" })).toHaveText("print('kept code')");
  await page.goto("/app/tests");
  await expect(page.getByLabel("Repository")).toHaveValue("https://example.org/kept.git");
});

test("keeps what is not saved, file by file", async ({ page, request }) => {
  await request.put("/files?path=kept/a.txt", { data: "a\n" });
  await request.put("/files?path=kept/b.txt", { data: "b\n" });
  await page.goto("/app/files/kept/a.txt");
  await type(page, "Text of kept/a.txt", "changed a");
  await page.getByRole("treeitem", { name: "b.txt" }).click();
  await type(page, "Text of kept/b.txt", "changed b");
  await page.goBack();
  await expect(page.getByRole("textbox", { name: "Text of kept/a.txt" })).toHaveText("changed a");
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Text of kept/a.txt" })).toHaveText("changed a");
  await page.goForward();
  await expect(page.getByRole("textbox", { name: "Text of kept/b.txt" })).toHaveText("changed b");
  await page.getByRole("button", { name: "Discard" }).click();
  await expect(page.getByRole("textbox", { name: "Text of kept/b.txt" })).toHaveText("b");
  expect(await (await request.get("/files?path=kept/a.txt")).text()).toBe("a\n");
});

test("goes back through a search as it was asked", async ({ page, request }) => {
  await request.put("/files?path=kept/word.txt", { data: "a rare word\n" });
  await page.goto("/app/search?q=rare&word=1");
  await page.locator('a.line[href$="word.txt#L1"]').click();
  await expect(page.locator(".cm-asked")).toContainText("rare");
  await page.goBack();
  await expect(page.getByRole("searchbox")).toHaveValue("rare");
  await expect(page.getByLabel("Whole words")).toBeChecked();
});
