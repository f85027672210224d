import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { expect, test } from "./test";

/** Lets fall onto the page what the mouse holds: files and folders of this machine. */
async function drop(page: Page, paths: string[]): Promise<void> {
  const pane = page.getByRole("region", { name: "Workspace" });
  const box = (await pane.boundingBox())!;
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) await devtools.send("Input.dispatchDragEvent", { type, ...at, data });
  await devtools.detach();
}

test("takes files and folders that are dropped", async ({ page, request }, info) => {
  const folder = join(info.outputDir, "project");
  mkdirSync(join(folder, "src", "deep"), { recursive: true });
  writeFileSync(join(folder, "README.md"), "# Dropped\n");
  writeFileSync(join(folder, "src", "deep", "a.py"), "print(1)\n");
  writeFileSync(join(info.outputDir, "single.txt"), "alone\n");
  await page.goto("/app/files");
  await expect(page.getByRole("button", { name: "Upload", exact: true })).toBeVisible();
  await drop(page, [folder, join(info.outputDir, "single.txt")]);
  await expect(page.getByText("3 files were stored")).toBeVisible();
  expect(await (await request.get("/files?path=project/src/deep/a.py")).text()).toBe("print(1)\n");
  expect(await (await request.get("/files?path=single.txt")).text()).toBe("alone\n");
});

test("takes a folder that is chosen", async ({ page, request }, info) => {
  const folder = join(info.outputDir, "chosen");
  mkdirSync(join(folder, "inner"), { recursive: true });
  writeFileSync(join(folder, "inner", "leaf.txt"), "leaf\n");
  await page.goto("/app/files");
  await page.getByLabel("Folder to upload").setInputFiles(folder);
  await expect(page.getByText("chosen/inner/leaf.txt was stored")).toBeVisible();
  expect(await (await request.get("/files?path=chosen/inner/leaf.txt")).text()).toBe("leaf\n");
});

test("stops an upload in the middle, and leaves nothing of it", async ({ page, request }, info) => {
  mkdirSync(info.outputDir, { recursive: true });
  const large = join(info.outputDir, "large.bin");
  writeFileSync(large, Buffer.alloc(20 << 20));
  await page.goto("/app/files");
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 1 << 20 });
  await page.getByLabel("Files to upload").setInputFiles([large]);
  const sent = page.getByRole("progressbar", { name: "Upload of large.bin" });
  await expect.poll(() => sent.evaluate((e) => (e as HTMLProgressElement).value)).toBeGreaterThan(1 << 20);
  await page.getByRole("button", { name: "Stop large.bin" }).click();
  await expect(page.getByRole("region", { name: "Uploads" })).toBeHidden();
  await expect.poll(async () => (await request.get("/files?path=large.bin")).status()).toBe(404);
  const { entries } = await (await request.get("/files?path=")).json();
  expect(entries.filter((e: { name: string }) => /large|sandgate/.test(e.name))).toEqual([]);
});
