// Searching a log of any size without holding up the page.

import { type Signal, signal } from "@preact/signals";

import { plain } from "../../output/log";
import type { Watch } from "./watch";

const perLook = 500; // lines between looks at the clock
const atOnce = 10; // milliseconds of looking before others get their turn
const most = 10_000; // lines found

export class Find {
  readonly term = signal("");
  /** Lines that hold the term, counted as the log counts them. */
  readonly found: Signal<number[]> = signal([]);
  readonly current = signal(-1); // index in found
  private timer = 0;
  private seen = 0;

  constructor(private readonly watch: Watch) {}

  ask(term: string): void {
    this.term.value = term;
    this.found.value = [];
    this.current.value = -1;
    this.seen = 0;
    clearTimeout(this.timer);
    if (term) this.step();
  }

  /** Looks at lines that came since. */
  step(): void {
    clearTimeout(this.timer);
    const term = this.term.value.toLowerCase();
    const { log } = this.watch;
    if (!term || this.found.value.length >= most) return;
    const from = Math.max(this.seen - log.dropped, 0);
    // The last line may still grow.
    const end = log.lines.length - (this.watch.live.value ? 1 : 0);
    const until = performance.now() + atOnce;
    const found: number[] = [];
    let i = from;
    for (; i < end && (i % perLook > 0 || performance.now() < until); i++) {
      if (plain(log.lines[i]!.text).toLowerCase().includes(term)) found.push(i + log.dropped);
    }
    this.seen = i + log.dropped;
    if (found.length) this.found.value = [...this.found.value, ...found].slice(0, most);
    if (this.current.value < 0 && this.found.value.length) this.current.value = 0;
    if (i < end) this.timer = window.setTimeout(() => this.step(), 0);
  }

  move(by: number): void {
    const n = this.found.value.length;
    if (n) this.current.value = (this.current.value + by + n) % n;
  }

  get line(): number | undefined {
    return this.found.value[this.current.value];
  }
}
