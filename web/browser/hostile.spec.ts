import { expect, heldUp, picture, test, type } from "./test";

// What sandboxes and repositories call things, print and give is somebody else's.

const names = [
  `<img src=x onerror="document.title='owned'">.txt`,
  "invoice\u202efdp.exe",
  "two\nlines.txt",
  "%2e%2e%2fup.txt",
  "#L1?q=1&a.txt",
  "'\"`${1+1}`.txt",
  "a\\b.txt",
  "\u200b",
  `${"long-name-".repeat(24)}.txt`,
];

test("shows every name for what it is, and opens it", async ({ page, request }) => {
  for (const name of names) {
    const response = await request.put(`/files?path=${encodeURIComponent(`hostile/${name}`)}`, { data: `thorn in ${names.indexOf(name)}\n` });
    expect(response.ok(), JSON.stringify(name)).toBe(true);
  }
  await page.goto("/app/files/hostile");
  const rows = page.locator(".listing tbody a");
  await expect(rows).toHaveCount(names.length);
  await picture(page, "files-hostile");
  for (let i = 0; i < names.length; i++) {
    await page.goto("/app/files/hostile");
    await rows.nth(i).click();
    await expect(page.getByRole("textbox", { name: /^Text of hostile/ })).toHaveText(/^thorn in \d+$/);
    await page.reload(); // the address alone leads there
    await expect(page.getByRole("textbox", { name: /^Text of hostile/ })).toHaveText(/^thorn in \d+$/);
  }
  await page.goto("/app/search?q=thorn+in");
  await expect(page.getByText(`${names.length} lines in ${names.length} files`)).toBeVisible();
  await picture(page, "search-hostile");
  await expect(page).toHaveTitle("Search · Sandgate");
});

test("is not held up by a value that is too large to show", async ({ page }) => {
  await page.goto("/app/run");
  await type(page, "Code in python", "{str(i): {str(j): list(range(20)) for j in range(40)} for i in range(40)}");
  const longest = await heldUp(page);
  await page.keyboard.press("ControlOrMeta+Enter");
  const output = page.getByRole("region", { name: "Output" });
  await expect(output.getByText("{40}").first()).toBeVisible();
  await output.getByText("{40}").nth(1).click();
  await expect(output.getByText("[20]").first()).toBeVisible();
  expect(await output.locator(".json-node, .json-leaf").count()).toBeLessThan(200);
  expect(await longest(), "longest task in milliseconds").toBeLessThan(1000);
});

test("shows a hostile log and hostile results as text", async ({ page, git }) => {
  test.setTimeout(240_000);
  const repository = git.add("hostile", {
    "package.json": JSON.stringify({ name: "x", version: "1.0.0", scripts: { test: "node --test" } }),
    "package-lock.json": JSON.stringify({ name: "x", version: "1.0.0", lockfileVersion: 3, requires: true, packages: { "": { name: "x", version: "1.0.0" } } }),
    "a.test.js": `const test = require("node:test");
console.log("<script>document.title = 'owned'</script>");
console.log("\\u001b]8;;javascript:document.title='owned'\\u0007a link\\u001b]8;;\\u0007");
console.log("\\u001b]0;owned\\u0007" + "w".repeat(100000));
test("<img src=x onerror=\\"document.title='owned'\\">", () => { throw new Error("<svg onload=document.title='owned'>") });
`,
  });
  await page.goto("/app/tests");
  await page.getByLabel("Repository").fill(repository);
  await page.keyboard.press("Enter");
  const results = page.getByRole("region", { name: "Results" });
  await expect(results).toContainText("1 failed", { timeout: 150_000 });
  await expect(results).toContainText("<img src=x onerror=");
  await page.getByLabel("Search in the log").fill("document.title = 'owned'");
  await expect(page.getByRole("log").locator("mark").first()).toBeVisible();
  await picture(page, "tests-hostile");
  await expect(page).toHaveTitle("hostile · Sandgate");
});
