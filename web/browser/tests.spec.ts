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

test.describe("an address that is refused", () => {
  test.use({ expected: [[/403/], { scope: "test" }] as never });

  test("is told with what would allow it", async ({ page }) => {
    await page.goto("/app/tests");
    await page.getByLabel("Repository").fill("https://169.254.169.254/secret.git");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("alert")).toContainText("--egress");
  });
});
