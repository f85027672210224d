import preact from "@preact/preset-vite";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type Plugin, defineConfig } from "vite";

const out = "../internal/webui/dist";

/** Lays a compressed form beside every asset, so that the gateway need not. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    buildStart() {
      // The folder itself stays: Go embeds it, built or not.
      rmSync(`${out}/assets`, { recursive: true, force: true });
    },
    closeBundle() {
      for (const name of readdirSync(`${out}/assets`)) {
        if (!/\.(js|css|svg|json)$/.test(name)) continue;
        const path = `${out}/assets/${name}`;
        const data = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(data));
      }
    },
  };
}

export default defineConfig({
  base: "/app/",
  plugins: [preact(), compressed()],
  build: {
    outDir: out,
    emptyOutDir: false,
    manifest: "manifest.json", // tells the tests what is loaded when
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: {
    // npm run dev works on the pages in front of a gateway that runs.
    proxy: { "^/(?!app/)|^/app/frame$": process.env.GATEWAY ?? "http://127.0.0.1:8787" },
  },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
} as Parameters<typeof defineConfig>[0]);
