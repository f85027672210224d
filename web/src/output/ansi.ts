// Colours and faces of a terminal (SGR), read line by line.

export interface Style {
  fg?: string; // 0 to 15, or #rrggbb
  bg?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
}

export interface Span {
  text: string;
  style?: Style;
}

// A sequence of any kind; its parameters if it sets colours.
const sequence = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_]?)/g;
const mostSpans = 500; // of a line; the rest of it looks alike
const control = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** The pieces of a line that look alike. Sequences that do something else go. */
export function spans(text: string, style?: Style): Span[] {
  if (!text.includes("\x1b")) return [{ text: text.replace(control, ""), style }];
  const found: Span[] = [];
  let from = 0;
  const push = (to: number) => {
    const piece = text.slice(from, to).replace(control, "");
    if (piece) found.push({ text: piece, style });
  };
  for (const m of text.matchAll(sequence)) {
    push(m.index);
    from = m.index + m[0].length;
    if (m[2] === "m") style = apply(style, m[1] ?? "");
    if (found.length === mostSpans) return [...found, { text: text.slice(from).replace(sequence, "").replace(control, ""), style }];
  }
  push(text.length);
  return found;
}

/** What a line leaves on for the lines after it. */
export function afterLine(text: string, style?: Style): Style | undefined {
  if (!text.includes("\x1b")) return style;
  for (const m of text.matchAll(sequence)) {
    if (m[2] === "m") style = apply(style, m[1] ?? "");
  }
  return style;
}

function apply(before: Style | undefined, parameters: string): Style | undefined {
  const codes = parameters.split(/[;:]/).slice(0, 32).map(Number);
  let s: Style = { ...before };
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i]!;
    if (c === 0) s = {};
    else if (c === 1) s.bold = true;
    else if (c === 2) s.dim = true;
    else if (c === 3) s.italic = true;
    else if (c === 4) s.underline = true;
    else if (c === 7) s.inverse = true;
    else if (c === 9) s.strike = true;
    else if (c === 22) s.bold = s.dim = undefined;
    else if (c === 23) s.italic = undefined;
    else if (c === 24) s.underline = undefined;
    else if (c === 27) s.inverse = undefined;
    else if (c === 29) s.strike = undefined;
    else if (c === 39) s.fg = undefined;
    else if (c === 49) s.bg = undefined;
    else if (c === 38 || c === 48) {
      const [colour, used] = extended(codes.slice(i + 1));
      if (c === 38) s.fg = colour;
      else s.bg = colour;
      i += used;
    } else if (c >= 30 && c <= 37) s.fg = String(c - 30);
    else if (c >= 40 && c <= 47) s.bg = String(c - 40);
    else if (c >= 90 && c <= 97) s.fg = String(c - 82);
    else if (c >= 100 && c <= 107) s.bg = String(c - 92);
  }
  return Object.values(s).some((v) => v !== undefined) ? s : undefined;
}

/** One of 256 colours, or a true one; and how many codes said so. */
function extended(codes: number[]): [string | undefined, number] {
  if (codes[0] === 5) return [indexed(codes[1] ?? 0), 2];
  if (codes[0] === 2) return [hex(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  return [undefined, 0];
}

function indexed(n: number): string {
  if (!(n >= 0 && n <= 255)) return "7";
  if (n < 16) return String(n);
  if (n >= 232) return hex(8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232));
  const level = (v: number) => (v === 0 ? 0 : 55 + 40 * v);
  return hex(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6));
}

function hex(...rgb: number[]): string {
  return "#" + rgb.map((v) => Math.min(Math.max(Math.round(v) || 0, 0), 255).toString(16).padStart(2, "0")).join("");
}

/** A style as CSS. Our sixteen colours are readable on either ground. */
export function css(s: Style): Record<string, string | undefined> {
  const colour = (c?: string) => (c === undefined || c.startsWith("#") ? c : `var(--ansi-${c})`);
  const [fg, bg] = s.inverse ? [colour(s.bg) ?? "var(--surface)", colour(s.fg) ?? "var(--ink)"] : [colour(s.fg), colour(s.bg)];
  return {
    color: fg ?? (bg && !s.inverse ? "var(--surface)" : undefined),
    background: bg,
    fontWeight: s.bold ? "650" : undefined,
    opacity: s.dim ? "0.75" : undefined,
    fontStyle: s.italic ? "italic" : undefined,
    textDecoration: [s.underline && "underline", s.strike && "line-through"].filter(Boolean).join(" ") || undefined,
  };
}
