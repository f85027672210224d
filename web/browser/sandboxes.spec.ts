import { expect, picture, test, type } from "./test";

test("puts a notebook to sleep, wakes it, and destroys it", async ({ page, request }) => {
  await page.goto("/app/notebooks/nap");
  await type(page, "Code of cell 1", "x = 41");
  await page.keyboard.press("Shift+Enter");
  await expect(page.locator(".kernel")).toContainText("new kernel");
  await page.goto("/app/sandboxes");
  const row = page.getByRole("row", { name: /^nap/ });
  await expect(row).toContainText("running");
  await picture(page, "sandboxes");
  await row.getByRole("button", { name: "Put Notebook nap to sleep" }).click();
  await expect(row).toContainText(/asleep · destroyed in/);

  await page.goto("/app/notebooks/nap");
  await expect(page.locator(".kernel")).toContainText("asleep");
  await picture(page, "notebook-asleep");
  await type(page, "Code of cell 2", "x + 1");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("article", { name: "Cell 2" }).locator(".value")).toHaveText("42");
  await expect(page.locator(".kernel")).toContainText("woken");

  await page.goto("/app/sandboxes");
  await row.getByRole("button", { name: "Destroy Notebook nap" }).click();
  await expect(page.getByRole("dialog")).toContainText("variables");
  await picture(page, "sandboxes-destroy");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(row).toBeVisible();
  await row.getByRole("button", { name: "Destroy Notebook nap" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Destroy" }).click();
  await expect(row).toHaveCount(0);
  const { sandboxes } = await (await request.get("/v1/sandboxes")).json();
  expect(sandboxes.filter((s: { name: string }) => s.name === "nap")).toEqual([]);
});
