import { css, spans } from "./ansi";
import type { Line } from "./log";

/** One line of output, coloured. */
export function LineView({ line }: { line: Line }) {
  return (
    <>
      {spans(line.text, line.style).map((s) => (s.style ? <span style={css(s.style)}>{s.text}</span> : s.text))}
      {"\n"}
    </>
  );
}
