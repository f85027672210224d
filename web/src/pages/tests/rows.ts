// Which row of the log view shows what, when some phases are folded. There are
// few phases and many lines: rows are found, never listed.

import type { Section } from "./watch";

export type Row = { kind: "phase"; section: number } | { kind: "line"; line: number };

interface Span {
  section: number;
  row: number; // of its heading
  from: number; // its first line
  lines: number; // that are shown
}

export class Rows {
  readonly count: number;
  private readonly spans: Span[] = [];

  /** first is the oldest line that is held, total the number after the newest. */
  constructor(sections: Section[], folded: ReadonlySet<number>, first: number, total: number) {
    let row = 0;
    sections.forEach((s, i) => {
      const from = Math.max(s.from, first);
      const to = Math.max(sections[i + 1]?.from ?? total, from);
      const lines = folded.has(i) ? 0 : to - from;
      this.spans.push({ section: i, row, from, lines });
      row += 1 + lines;
    });
    this.count = row;
  }

  at(row: number): Row | undefined {
    const span = this.spans.findLast((s) => s.row <= row);
    if (!span || row > span.row + span.lines) return undefined;
    if (row === span.row) return { kind: "phase", section: span.section };
    return { kind: "line", line: span.from + row - span.row - 1 };
  }

  /** The row of a line; that of its phase's heading when it is folded away. */
  of(line: number): number {
    const span = this.spans.findLast((s) => s.from <= line);
    if (!span) return 0;
    return span.lines === 0 ? span.row : Math.min(span.row + 1 + line - span.from, span.row + span.lines);
  }

  /** The phase of a line. */
  sectionOf(line: number): number {
    return this.spans.findLast((s) => s.from <= line)?.section ?? 0;
  }
}
