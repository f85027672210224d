// What a program printed, as lines. A terminal's line discipline is applied as
// it comes: \r goes back to the start of the line, \b back one place, and what
// erases a line erases it. Colours stay in the text, and are read when a line is
// drawn (ansi.ts): a log of a million lines costs little more than its bytes.

import { type Style, afterLine } from "./ansi";

export interface Line {
  stream: string; // stdout, stderr, or what else a page calls it
  text: string; // with its colour sequences, without its end
  style?: Style; // what the lines before left on
}

const maxLine = 64 << 10; // characters; the rest of a longer line becomes lines of its own
const mostReturns = 64; // to the start of a line, of one piece: who prints more shows only the last

export class Log {
  readonly lines: Line[] = [];
  /** How many lines went from the front for want of room. */
  dropped = 0;
  private open = false; // the last line has not ended
  // A \r came: what follows overwrites what the line was then.
  private under: string | undefined;
  private over = "";
  private style: Style | undefined;

  /** keep bounds the lines that are held. */
  constructor(private readonly keep = 10_000) {}

  /** Adds output as it came, cut anywhere. */
  write(stream: string, data: string): void {
    let from = 0;
    for (;;) {
      const end = data.indexOf("\n", from);
      if (end < 0) break;
      this.put(stream, data.slice(from, end), true);
      from = end + 1;
    }
    if (from < data.length) this.put(stream, data.slice(from), false);
    this.trim();
  }

  /** Adds a line of the page's own. */
  note(stream: string, text: string): void {
    this.open = false;
    this.home(undefined);
    this.lines.push({ stream, text });
    this.trim();
  }

  private put(stream: string, piece: string, ends: boolean): void {
    if (!this.open || this.lines[this.lines.length - 1]!.stream !== stream) this.begin(stream);
    const line = this.lines[this.lines.length - 1]!;
    // \r\n is an end of line, though its halves may come apart.
    if (ends && piece.endsWith("\r")) piece = piece.slice(0, -1);
    if (piece !== "") this.add(line, piece);
    if (ends) this.finish(line);
  }

  private begin(stream: string): void {
    const before = this.lines[this.lines.length - 1];
    if (this.open && before) this.finish(before);
    this.lines.push({ stream, text: "", style: this.style });
    this.open = true;
    this.home(undefined);
  }

  private finish(line: Line): void {
    this.style = afterLine(line.text, line.style);
    this.open = false;
    this.home(undefined);
  }

  private home(under: string | undefined): void {
    this.under = under;
    this.over = "";
  }

  private add(line: Line, piece: string): void {
    if (this.under === undefined && !controls.test(piece)) line.text += piece;
    else this.steer(line, piece);
    if (line.text.length > maxLine) this.split(line);
  }

  /** Adds text that moves about in its line. */
  private steer(line: Line, piece: string): void {
    const parts = piece.replace(goHome, "\r").split("\r");
    const last = parts.slice(-mostReturns);
    last.forEach((part, i) => {
      if (i > 0 || last.length < parts.length) this.home(line.text);
      if (part === "") return;
      this.over += part;
      line.text = this.under === undefined ? line.text + part : overwrite(this.under, this.over);
      if (/[\x1b\b]/.test(part)) line.text = erase(line.text);
    });
  }

  private split(line: Line): void {
    const rest = line.text.slice(maxLine);
    line.text = line.text.slice(0, maxLine);
    this.finish(line);
    this.put(line.stream, rest, false);
  }

  private trim(): void {
    const over = this.lines.length - this.keep;
    if (over < this.keep / 10) return; // not for each line
    this.lines.splice(0, over);
    this.dropped += over;
  }
}

const controls = /[\r\b\x1b]/;
const goHome = /\x1b\[0?1?G/g; // to the first column
const eraseLine = /\x1b\[[12]K/g;
const eraseRest = /\x1b\[0?K/g; // nothing is behind the place where we write
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** What the line shows when something is written over its start. */
function overwrite(under: string, over: string): string {
  const plain = over.replace(sequences, "");
  const below = under.replace(sequences, "");
  if (plain.length >= below.length || /\x1b\[[012]?K/.test(over)) return over;
  return over + below.slice(plain.length);
}

function erase(text: string): string {
  for (const m of text.matchAll(eraseLine)) text = text.slice(text.lastIndexOf(m[0]) + m[0].length);
  return back(text.replace(eraseRest, ""));
}

/** Takes away what \b went back over. */
function back(text: string): string {
  if (!text.includes("\b")) return text;
  const kept: string[] = [];
  for (const c of text) {
    if (c !== "\b") kept.push(c);
    else kept.pop();
  }
  return kept.join("");
}

/** The text of a line without its sequences. */
export function plain(text: string): string {
  return text.replace(sequences, "").replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
}
