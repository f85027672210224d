import type { Result } from "../api/types";
import { HtmlFrame } from "./frame";
import { JsonTree } from "./json";
import { Latex, Markdown } from "./rich";

/** A value that code displayed or ended with, in its richest form. */
export function ResultView({ result: r }: { result: Result }) {
  if (r.html) return <HtmlFrame html={r.html} title="Result" />;
  if (r.svg) return <HtmlFrame html={r.svg} title="Drawing" />;
  if (r.png) return <img class="picture" src={`data:image/png;base64,${r.png}`} alt={r.text} />;
  if (r.jpeg) return <img class="picture" src={`data:image/jpeg;base64,${r.jpeg}`} alt={r.text} />;
  if (r.latex) return <Latex text={r.latex} />;
  if (r.markdown) return <Markdown text={r.markdown} />;
  if (r.json !== undefined && typeof r.json === "object" && r.json !== null) return <JsonTree value={r.json} />;
  return <pre class="value">{r.text}</pre>;
}
