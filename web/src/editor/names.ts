// Which language a file is in. It stands apart so that a page can ask without
// loading an editor.

const extensions: Record<string, string> = {
  py: "python", pyi: "python", js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript",
  ts: "typescript", tsx: "typescript", sh: "bash", bash: "bash", json: "json", ipynb: "json", md: "markdown",
  html: "html", htm: "html", svg: "html", xml: "html", css: "css", yml: "yaml", yaml: "yaml", toml: "toml",
  go: "go", rs: "rust", c: "c", h: "c", cpp: "c", java: "c", sql: "sql",
};

/** The language of a file by its name; "" when it is none that we colour. */
export function languageOf(name: string): string {
  if (/(^|\/)Dockerfile$/.test(name)) return "dockerfile";
  return extensions[name.split(".").pop()!.toLowerCase()] ?? "";
}
