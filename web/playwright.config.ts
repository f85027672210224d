import { defineConfig } from "@playwright/test";

// The pages in a real browser, against the real gateway: `npm run browser`
// wants bin/gateway built, and root, as the gateway does.
export default defineConfig({
  testDir: "browser",
  outputDir: "test-results",
  workers: 1, // one gateway, and few processors
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: !!process.env.CI,
  retries: process.env.CI ? 2 : 0, // a busy machine is no mistake of the pages; the report names what was tried again
  reporter: process.env.CI ? "line" : "list",
  use: {
    viewport: { width: 1440, height: 900 },
    actionTimeout: 30_000,
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox", // the tests run as root
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
