import { expect, picture, test, type } from "./test";

test("keeps variables from cell to cell, by keyboard alone", async ({ page }) => {
  await page.goto("/app/notebooks/keys");
  await type(page, "Code of cell 1", "x = 41");
  await page.keyboard.press("Shift+Enter");
  await expect(page.getByRole("textbox", { name: "Code of cell 2" })).toBeFocused();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText("x + 1");
  await page.keyboard.press("Shift+Enter");
  await expect(page.getByRole("article", { name: "Cell 2" }).locator(".value")).toHaveText("42");
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  await page.keyboard.press("a");
  await expect(page.getByRole("article")).toHaveCount(4);
  await page.keyboard.press("Escape");
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await expect(page.getByRole("article")).toHaveCount(3);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("article")).toHaveCount(4);
});

test("plots, and says how the kernel came about", async ({ page }) => {
  await page.goto("/app/notebooks/plot");
  await type(page, "Code of cell 1", "import matplotlib.pyplot as plt\nplt.figure(figsize=(6, 2))\nplt.plot([1, 4, 9])\nplt.show()");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("article", { name: "Cell 1" }).locator("img.picture")).toBeVisible();
  await picture(page, "notebook", { docs: "notebook" });
  await page.getByRole("button", { name: "Restart" }).click();
  await expect(page.getByText("The kernel was restarted")).toBeVisible();
  await page.goto("/app/notebooks");
  await expect(page.getByRole("link", { name: "plot" })).toBeVisible();
  await picture(page, "notebooks");
});

test("interrupts, and takes up what runs after a reload", async ({ page }) => {
  await page.goto("/app/notebooks/long");
  await type(page, "Code of cell 1", "import time\nfor i in range(10**6):\n    print(i, flush=True)\n    time.sleep(0.2)");
  await page.keyboard.press("ControlOrMeta+Enter");
  const cell = page.getByRole("article", { name: "Cell 1" });
  await expect(cell.locator(".stream")).toContainText("3"); // the clock beside it shows a 3 long before
  await page.reload();
  await expect(cell.getByText("running")).toBeVisible();
  await page.getByRole("button", { name: "Interrupt", exact: true }).click();
  await expect(cell).toContainText("It was stopped.");
});

test("tells of a cell that fails, and stops running all", async ({ page }) => {
  await page.goto("/app/notebooks/fails");
  await type(page, "Code of cell 1", "print('before')");
  await page.keyboard.press("Alt+Enter");
  await type(page, "Code of cell 2", "undefined_name");
  await page.keyboard.press("Alt+Enter");
  await type(page, "Code of cell 3", "print('after')");
  await page.getByRole("button", { name: "Clear outputs" }).click();
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(page.getByRole("article", { name: "Cell 2" })).toContainText("NameError");
  await expect(page.getByRole("article", { name: "Cell 3" }).locator(".given")).toHaveCount(0);
});

test("goes on with a notebook whose cells are in another browser", async ({ page, request }) => {
  const made = await request.post("/notebook?notebook=elsewhere", { data: "x = 41", headers: { "Content-Type": "text/plain" } });
  expect(made.ok()).toBe(true);
  await page.goto("/app/notebooks");
  await expect(page.getByRole("listitem").filter({ hasText: "elsewhere" })).toContainText("cells are in another browser");
  await picture(page, "notebooks-elsewhere");
  await page.getByRole("link", { name: "elsewhere" }).click();
  await expect(page.getByText("cells of this notebook are in another browser")).toBeVisible();
  await expect(page.getByRole("article")).toHaveCount(1); // the examples would overwrite x
  await type(page, "Code of cell 1", "x + 1");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("article", { name: "Cell 1" }).locator(".value")).toHaveText("42");
  await picture(page, "notebook-elsewhere");
});

for (const name of ["ünï/cödé", "a/../../frame"]) {
  test(`leads to the notebook ${name}, and stays there`, async ({ page, request }) => {
    const query = `notebook=${encodeURIComponent(name)}`;
    await request.post(`/notebook?${query}`, { data: "x = 41", headers: { "Content-Type": "text/plain" } });
    await page.goto("/app/sandboxes");
    await page.getByRole("link", { name }).click();
    await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
    await page.reload(); // the gateway knows the address as well
    await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
    await type(page, "Code of cell 1", "x + 1");
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(page.getByRole("article", { name: "Cell 1" }).locator(".value")).toHaveText("42");
  });
}
