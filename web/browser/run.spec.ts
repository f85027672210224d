import { expect, heldUp, memory, picture, test, type } from "./test";

const code = "Code in python";

test("runs code and shows what it gave", async ({ page }) => {
  await page.goto("/");
  await expect(page).toHaveURL(/\/app\/run$/);
  await type(page, code, "import sys\nprint('\\033[32mgreen\\033[0m')\nprint('careful', file=sys.stderr)\n{'answer': 42}");
  await page.keyboard.press("ControlOrMeta+Enter");
  const output = page.getByRole("region", { name: "Output" });
  await expect(output.getByText("done")).toBeVisible();
  await expect(output.getByText("green")).toHaveCSS("color", "rgb(44, 107, 47)");
  await expect(output.locator(".stderr")).toHaveText(/careful/);
  await expect(output.getByText("answer")).toBeVisible();
  await picture(page, "run");
});

test("marks the line that failed", async ({ page }) => {
  await page.goto("/app/run");
  await type(page, code, "x = 1\n\n1/0\n");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("region", { name: "Output" })).toContainText("ZeroDivisionError");
  await expect(page.locator(".cm-failed")).toHaveText("1/0");
  await picture(page, "run-failed");
});

test("shows output as it is printed, over a reload, and stops", async ({ page }) => {
  await page.goto("/app/run");
  await type(page, code, "import time\nfor i in range(10**6):\n    print('line', i, flush=True)\n    time.sleep(0.2)\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const output = page.getByRole("region", { name: "Output" });
  await expect(output).toContainText("line 3");
  await page.reload();
  await expect(output).toContainText("line 6");
  await expect(output).toContainText("line 0");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(output).toContainText("It was stopped");
  const lines = (await output.locator(".stream").innerText()).trim().split("\n");
  expect(lines).toEqual(lines.map((_, i) => `line ${i}`));
});

test.describe("hostile output", () => {
  // What the frame keeps it from is told in the console.
  test.use({ expected: [[/Blocked a frame with origin "null"/], { scope: "test" }] as never });

  test("stays where it is", async ({ page }) => {
    await page.goto("/app/run");
    await type(
      page,
      code,
      `from IPython.display import HTML, SVG, Markdown, display
print('<img src=x onerror="parent.document.title=\\'owned\\'">')
display(HTML('<b>table</b><script>try { parent.document.title = "owned" } catch (e) { document.body.append("kept out") }</script>'))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><script>parent.document.title="owned"</script><circle cx="20" cy="20" r="10"/></svg>'))
display(Markdown('**bold** <img src=x onerror="document.title=1"> [link](javascript:document.title=1)'))
`,
    );
    await page.keyboard.press("ControlOrMeta+Enter");
    const output = page.getByRole("region", { name: "Output" });
    await expect(output.getByText("bold")).toBeVisible();
    await expect(page.frameLocator("iframe").first().getByText("kept out")).toBeVisible();
    await expect(page).toHaveTitle("Run · Sandgate");
    await expect(output.getByText('<img src=x onerror="parent')).toBeVisible();
  });
});

test("gives input, starts from examples, shares by link", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/app/run");
  await page.getByLabel("Start from an example").selectOption("Standard input");
  await page.getByRole("button", { name: "Input" }).click();
  await expect(page.getByLabel("Standard input")).toHaveValue("1\n2\n39\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("region", { name: "Output" })).toContainText("sum: 42");
  await page.getByRole("button", { name: "Share" }).click();
  await expect(page).toHaveURL(/#1/);
  const link = page.url();
  await page.evaluate(() => localStorage.clear());
  await page.goto("about:blank");
  await page.goto(link);
  await expect(page.getByRole("textbox", { name: code })).toContainText("total += int(input())");
});

test("stays light while ten thousand lines stream by", async ({ page }) => {
  await page.goto("/app/run");
  await type(page, code, "for i in range(30000): print('a line of some length, number', i)\n");
  const longest = await heldUp(page);
  await page.keyboard.press("ControlOrMeta+Enter");
  const output = page.getByRole("region", { name: "Output" });
  await expect(output.getByText("number 29999")).toBeVisible();
  await expect(output).toContainText("no longer shown");
  expect(await output.locator(".stream").evaluate((e) => e.textContent!.split("\n").length)).toBeLessThan(11_500);
  expect(await memory(page), "megabytes").toBeLessThan(100);
  expect(await longest(), "longest task in milliseconds").toBeLessThan(3000);
});
