import "./output.css";

import DOMPurify from "dompurify";
import { useEffect, useRef, useState } from "preact/hooks";

/** Markdown of users' code: no HTML of it runs, and its pictures are its own. */
export function Markdown({ text }: { text: string }) {
  const [html, setHtml] = useState("");
  useEffect(() => {
    import("marked").then(({ Marked }) => {
      const marked = new Marked({ renderer: { html: ({ text }) => withoutTags(text) } });
      setHtml(clean(marked.parse(text, { async: false })));
    });
  }, [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}

/** The words of HTML in Markdown: its tags are not wanted, nor parsed. */
function withoutTags(html: string): string {
  const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return html.replace(/<[^>]*>/g, "").replace(/[&<>"]/g, (c) => escapes[c]!);
}

/** What is left of HTML when nothing in it can act, load or pretend. */
export function clean(html: string): string {
  const fragment = DOMPurify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "dialog", "audio", "video", "source", "picture"],
    FORBID_ATTR: ["style", "class", "id", "srcset", "background", "name"],
    RETURN_DOM_FRAGMENT: true,
  });
  for (const img of fragment.querySelectorAll("img")) {
    if (!img.getAttribute("src")?.startsWith("data:image/")) img.replaceWith(img.alt);
  }
  for (const a of fragment.querySelectorAll("a")) {
    a.target = "_blank";
    a.rel = "noopener noreferrer";
  }
  const div = document.createElement("div");
  div.append(fragment);
  return div.innerHTML;
}

/** LaTeX as mathematics. */
export function Latex({ text }: { text: string }) {
  const ref = useRef<HTMLDivElement>(null);
  const display = /^\s*(\$\$|\\\[|\\begin)/.test(text);
  useEffect(() => {
    Promise.all([import("katex"), import("katex/dist/katex.min.css")]).then(([katex]) => {
      if (!ref.current) return;
      const source = text.trim().replace(/^(\$\$?|\\\[|\\\()|(\$\$?|\\\]|\\\))$/g, "");
      katex.default.render(source, ref.current, { displayMode: display, throwOnError: false, maxExpand: 200, maxSize: 20 });
    });
  }, [text]);
  return (
    <div class="latex" ref={ref}>
      {text}
    </div>
  );
}
