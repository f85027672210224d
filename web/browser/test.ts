// What every test has: a gateway, a page that is watched for what must never
// happen, and eyes.

import AxeBuilder from "@axe-core/playwright";
import { type Locator, type Page, test as base, expect } from "@playwright/test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Gateway } from "./gateway";
import { GitServer } from "./git";

const screenshots = join(import.meta.dirname, "../../bin/screenshots");
mkdirSync(join(screenshots, "docs"), { recursive: true });

interface Worker {
  git: GitServer;
  gateway: Gateway;
}

interface Each {
  /** Errors that a test brings about by itself. */
  expected: RegExp[];
}

export const test = base.extend<Each, Worker>({
  git: [
    async ({}, use) => {
      const git = new GitServer();
      await git.start();
      await use(git);
      git.stop();
    },
    { scope: "worker" },
  ],
  gateway: [
    async ({ git }, use) => {
      const gateway = new Gateway(["--egress-allow-private", git.host]);
      await gateway.start();
      await use(gateway);
      await gateway.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ gateway }, use) => use(gateway.url),
  expected: [[], { option: true }],
  page: async ({ page, gateway, expected }, use) => {
    const wrong: string[] = [];
    page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
    page.on("pageerror", (e) => wrong.push(String(e)));
    page.on("request", (r) => {
      const url = new URL(r.url());
      if (!["data:", "blob:"].includes(url.protocol) && url.origin !== gateway.url) wrong.push(`asked ${url.origin}`);
    });
    await use(page);
    expect(wrong.filter((w) => !expected.some((e) => e.test(w)))).toEqual([]);
  },
});

export { expect };

/** Fails for what the guidelines on accessibility call a mistake. */
export async function accessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).exclude("iframe").analyze();
  expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`)).toEqual([]);
}

/** Pictures of a page, wide and narrow, light and dark; and a small one for the
 * README, which `npm run pictures` takes from there. */
export async function picture(page: Page, name: string, { docs = "" } = {}): Promise<void> {
  for (const [size, width, height] of [["wide", 1440, 900], ["narrow", 360, 740]] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await settled(page);
      await page.screenshot({ path: join(screenshots, `${name}-${size}-${colorScheme}.png`) });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wider, `${name} is wider than the ${size} window`).toBeLessThanOrEqual(0);
      if (size === "wide") await accessible(page);
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  if (docs) {
    await page.setViewportSize({ width: 820, height: 512 });
    await settled(page);
    await page.screenshot({ path: join(screenshots, "docs", `${docs}.png`) });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Waits until what moves has come to its place, and is drawn. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  // An animation whose element is hidden meanwhile may never say that it has finished.
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.effect?.getComputedTiming().iterations === Infinity));
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** Goes on with Tab until something has the focus. */
export async function tabTo(page: Page, to: Locator): Promise<void> {
  for (let i = 0; i < 80; i++) {
    if (await to.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${to} is not reached by Tab`);
}

/** Measures how long the page is held up at most, from now on. */
export async function heldUp(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const seen = window as never as { longest: number; watch: PerformanceObserver };
    seen.longest = 0;
    seen.watch?.disconnect();
    seen.watch = new PerformanceObserver((list) => {
      seen.longest = Math.max(seen.longest, ...list.getEntries().map((e) => e.duration));
    });
    seen.watch.observe({ entryTypes: ["longtask"] });
  });
  return () => page.evaluate(() => (window as never as { longest: number }).longest);
}

/** Megabytes of JavaScript's memory, when what can go is gone. */
export async function memory(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  await devtools.send("Performance.enable");
  const { metrics } = await devtools.send("Performance.getMetrics");
  await devtools.detach();
  return metrics.find((m) => m.name === "JSHeapUsedSize")!.value / 1e6;
}

/** Puts text into the focused code editor, in place of what is there. */
export async function type(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: label });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}
