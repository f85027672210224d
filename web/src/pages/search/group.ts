import type { FoundLine, Match } from "../../api/search";

/** A line as it is shown: matched, or beside one. */
export interface Shown extends FoundLine {
  matched: boolean;
}

export interface Group {
  path: string; // below /workspace
  matches: number;
  blocks: Shown[][]; // lines that follow one another
}

/** Matches by file, and lines that touch put together. */
export function group(matches: Match[]): Group[] {
  const groups = new Map<string, Map<number, Shown>>();
  for (const m of matches) {
    const path = m.path.replace(/^\/workspace\//, "");
    const lines = groups.get(path) ?? new Map<number, Shown>();
    groups.set(path, lines);
    for (const l of [...(m.before ?? []), ...(m.after ?? [])]) {
      if (!lines.has(l.line)) lines.set(l.line, { ...l, matched: false });
    }
    lines.set(m.line, { line: m.line, text: m.text, cut: m.cut, offset: m.offset, matched: true });
  }
  return [...groups].map(([path, lines]) => {
    const sorted = [...lines.values()].sort((a, b) => a.line - b.line);
    return { path, matches: sorted.filter((l) => l.matched).length, blocks: runs(sorted) };
  });
}

function runs(lines: Shown[]): Shown[][] {
  const blocks: Shown[][] = [];
  for (const l of lines) {
    const last = blocks[blocks.length - 1];
    if (last && last[last.length - 1]!.line + 1 === l.line) last.push(l);
    else blocks.push([l]);
  }
  return blocks;
}

/** Where the term stands in a line: pieces, every second one of them found. */
export function pieces(text: string, term: string, opts: { fixed: boolean; ignoreCase: boolean; word: boolean }): string[] {
  // grep's expressions are not the browser's; what reads the same in both is marked.
  if (!opts.fixed && /[\\.*[\]^$]/.test(term)) return [text];
  const literal = term.split("\n").filter(Boolean).map((t) => t.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  if (literal.length === 0) return [text];
  const source = `(${literal.join("|")})`;
  return text.split(new RegExp(opts.word ? `(?<!\\w)${source}(?!\\w)` : source, opts.ignoreCase ? "giu" : "gu"));
}
