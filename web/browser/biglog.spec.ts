import type { Page } from "@playwright/test";

import { expect, heldUp, memory, test } from "./test";

test.setTimeout(480_000);
test.use({ trace: "off" }); // it would hold the log as well

const lines = 400_000; // of some 260 bytes
const patience = 30_000; // milliseconds; a busy machine does not come to the end
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

async function held(page: Page): Promise<number> {
  return Number((await page.getByText(/^[\d,]+ lines$/).innerText()).replace(/\D/g, ""));
}

test("keeps a log of a hundred megabytes smooth", async ({ page, git }) => {
  const repository = git.add("big", { "big.js": script });
  await page.goto("/app/tests");
  await page.getByLabel("Repository").fill(repository);
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel(/^Command/).fill("node big.js");
  const streaming = await heldUp(page);
  await page.getByRole("button", { name: "Run the tests" }).click();
  const log = page.getByRole("log");
  await expect(log.getByText(/line 00/).first()).toBeVisible({ timeout: 150_000 });
  const began = Date.now();
  await expect.poll(async () => (await held(page)) >= lines || Date.now() - began > patience, { timeout: 4 * patience }).toBe(true);
  const took = Date.now() - began;
  const came = await held(page);
  const whileStreaming = await streaming();

  // Scrolling goes on although more may come.
  const scrolling = await heldUp(page);
  const drawn = await log.evaluate(async (box) => {
    const rows = [];
    for (let i = 0; i <= 20; i++) {
      box.scrollTop = (box.scrollHeight * ((i * 8) % 21)) / 21;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      rows.push(box.querySelectorAll(".log-row").length);
    }
    box.scrollTop = 0;
    return Math.max(...rows);
  });
  await expect(log.getByText("line 0000000")).toBeVisible();
  const wanted = `line ${String(Math.floor(came / 2)).padStart(7, "0")}`;
  await page.getByLabel("Search in the log").fill(wanted);
  await expect(log.locator("mark")).toHaveText(wanted);
  const whileScrolling = await scrolling();
  const megabytes = await memory(page);
  console.log(
    `${came} lines in ${took} ms; longest task ${whileStreaming} ms while they came, ${whileScrolling} ms while scrolling and searching; ${Math.round(megabytes)} MB, ${drawn} rows drawn`,
  );
  expect(came).toBeGreaterThan(lines / 20);
  expect(drawn).toBeLessThan(200);
  expect(megabytes).toBeLessThan(600);
  expect(Math.max(whileStreaming, whileScrolling), "longest task in milliseconds").toBeLessThan(3000);
});
