// What every test has: a gateway, a page that is watched for what must never
// happen, and eyes.

import AxeBuilder from "@axe-core/playwright";
import { type Page, test as base, expect } from "@playwright/test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Gateway } from "./gateway";
import { GitServer } from "./git";

export const screenshots = join(import.meta.dirname, "../../bin/screenshots");
mkdirSync(screenshots, { recursive: true });

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

/** Pictures of a page, wide and narrow, light and dark. */
export async function picture(page: Page, name: string): Promise<void> {
  for (const [size, width, height] of [["wide", 1440, 900], ["narrow", 360, 740]] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.waitForTimeout(150);
      await page.screenshot({ path: join(screenshots, `${name}-${size}-${colorScheme}.png`) });
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wider, `${name} is wider than the ${size} window`).toBeLessThanOrEqual(0);
      if (size === "wide") await accessible(page);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Puts text into the focused code editor, in place of what is there. */
export async function type(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: label });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}
