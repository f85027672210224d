import { expect, heldUp, memory, test } from "./test";

test.setTimeout(300_000);
test.use({ trace: "off" }); // it would hold the log as well

const lines = 400_000; // of some 260 bytes
const script = `
const line = (i) => "line " + String(i).padStart(7, "0") + " " + "\\u001b[32mok\\u001b[0m ".repeat(10) + "x".repeat(120) + "\\n";
let i = 0;
function write() {
  while (i < ${lines}) {
    let some = "";
    for (const end = Math.min(i + 2000, ${lines}); i < end; i++) some += line(i);
    if (!process.stdout.write(some)) return process.stdout.once("drain", write);
  }
}
write();
`;

test("keeps a log of a hundred megabytes smooth", async ({ page, git }) => {
  const began = Date.now();
  const repository = git.add("big", { "big.js": script });
  await page.goto("/app/tests");
  await page.getByLabel("Repository").fill(repository);
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel(/^Command/).fill("node big.js");
  const streaming = await heldUp(page);
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByText("passed", { exact: true })).toBeVisible({ timeout: 240_000 });
  const log = page.getByRole("log");
  await expect(log.getByText(`line 0${lines - 1}`)).toBeVisible();
  const whileStreaming = await streaming();

  const scrolling = await heldUp(page);
  const drawn = await log.evaluate(async (box) => {
    const most = [];
    for (let i = 0; i <= 60; i++) {
      box.scrollTop = (box.scrollHeight * ((i * 37) % 61)) / 61;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      most.push(box.querySelectorAll(".log-row").length);
    }
    box.scrollTop = 0;
    return Math.max(...most);
  });
  await expect(log.getByText("line 0000000")).toBeVisible();
  await page.getByLabel("Search in the log").fill("line 0287654");
  await expect(page.getByText("1 of 1")).toBeVisible();
  await expect(log.locator("mark")).toHaveText("line 0287654");
  const whileScrolling = await scrolling();
  const megabytes = await memory(page);
  console.log(`${Math.round((Date.now() - began) / 1000)} s; longest task ${whileStreaming} ms while streaming, ${whileScrolling} ms while scrolling and searching; ${Math.round(megabytes)} MB, ${drawn} rows drawn`);
  expect(drawn).toBeLessThan(200);
  expect(megabytes).toBeLessThan(600);
  expect(Math.max(whileStreaming, whileScrolling), "longest task in milliseconds").toBeLessThan(3000);
});
