import { expect, test, type } from "./test";

// What was typed comes back to the editor as its value, when more was typed already.
test("keeps up with who types fast", async ({ page }) => {
  await page.goto("/app/notebooks/fast");
  await type(page, "Code of cell 1", "begin");
  for (let i = 0; i < 30; i++) {
    await Promise.all([page.keyboard.press("ControlOrMeta+a"), page.keyboard.press("Delete"), page.keyboard.insertText(`x = ${i}`)]);
  }
  await expect(page.getByRole("textbox", { name: "Code of cell 1" })).toHaveText("x = 29");
});
