import { expect, picture, test, type } from "./test";

test("makes, edits, saves, renames and deletes a file", async ({ page, request }) => {
  await page.goto("/app/files");
  await page.getByRole("button", { name: "New file" }).click();
  await page.getByLabel("Its name; slashes make folders").fill("src/hello.py");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/app\/files\/src\/hello\.py$/);
  await type(page, "Text of src/hello.py", "print('hello')\n");
  await expect(page.getByText("not saved")).toBeVisible();
  await page.reload(); // what was typed is kept
  await expect(page.getByText("not saved")).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("not saved")).toBeHidden();
  expect(await (await request.get("/files?path=src/hello.py")).text()).toBe("print('hello')\n");
  await picture(page, "files", { docs: "files" });

  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Its path in the workspace").fill("src/greeting.py");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/greeting\.py$/);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/app\/files\/src$/);
  expect((await request.get("/files?path=src/greeting.py")).status()).toBe(404);
});

test.describe("a conflict", () => {
  test.use({ expected: [[/412/], { scope: "test" }] as never });

  test("is told before anything is lost", async ({ page, request }) => {
    await request.put("/files?path=shared.txt", { data: "one\n" });
    await page.goto("/app/files/shared.txt");
    await type(page, "Text of shared.txt", "mine\n");
    await request.put("/files?path=shared.txt", { data: "theirs\n" });
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("The file has changed")).toBeVisible();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await (await request.get("/files?path=shared.txt")).text()).toBe("theirs\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Overwrite" }).click();
    await expect(page.getByText("not saved")).toBeHidden();
    expect(await (await request.get("/files?path=shared.txt")).text()).toBe("mine\n");
  });
});

test("uploads, shows and downloads", async ({ page }) => {
  await page.goto("/app/files");
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  await page.getByLabel("Files to upload").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: png },
    { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes\n\n<script>document.title='owned'</script>\n\n- one\n") },
    { name: "data.csv", mimeType: "text/csv", buffer: Buffer.from('name,n\n"a, b",1\n') },
    { name: '<img src=x onerror="document.title=1">.txt', mimeType: "text/plain", buffer: Buffer.from("odd name") },
    { name: "binary.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2, 255]) },
  ]);
  await expect(page.getByText("5 files were stored")).toBeVisible();
  await page.getByRole("treeitem", { name: "dot.png" }).click();
  await expect(page.getByRole("img", { name: "dot.png" })).toBeVisible();
  await page.getByRole("treeitem", { name: "notes.md" }).click();
  await expect(page.locator(".markdown h1")).toHaveText("Notes");
  await picture(page, "files-markdown");
  await page.getByRole("treeitem", { name: "data.csv" }).click();
  await expect(page.getByRole("cell", { name: "a, b" })).toBeVisible();
  await page.getByRole("treeitem", { name: "onerror" }).click();
  await expect(page.getByRole("textbox")).toContainText("odd name");
  await page.getByRole("treeitem", { name: "binary.bin" }).click();
  await expect(page.getByText("This file is not text")).toBeVisible();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("binary.bin");
  await expect(page).toHaveTitle(/Sandgate/);
});

test("goes through the tree by keyboard", async ({ page, request }) => {
  await request.put("/files?path=tree/inner/leaf.txt", { data: "leaf" });
  await page.goto("/app/files");
  await page.getByRole("treeitem").first().focus();
  const tree = page.getByRole("treeitem", { name: "tree", exact: true });
  await tree.focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("treeitem", { name: "inner" })).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("treeitem", { name: "leaf.txt" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Text of tree/inner/leaf.txt" })).toContainText("leaf");
});
