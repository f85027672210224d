const most = 1000; // milliseconds between drawings, however long one takes

/** Draws what changes, soon and not too often: the next frame after something
 * changed, but a pause after the last time. What comes fast would otherwise have
 * the page draw all the time and never read on; where drawing takes long, the
 * pause is longer. */
export class Pace {
  private due = false;
  private next = -Infinity; // when it may be drawn again

  constructor(
    private readonly draw: () => void,
    private readonly pause: number, // milliseconds
  ) {}

  changed(): void {
    if (this.due) return;
    this.due = true;
    const wait = this.next - performance.now();
    if (wait > 0 || document.hidden) setTimeout(() => this.now(), Math.max(wait, 0));
    else requestAnimationFrame(() => this.now());
  }

  private now(): void {
    const began = performance.now();
    this.due = false;
    this.next = began + this.pause;
    this.draw();
    // The timer comes when the frame is there.
    requestAnimationFrame(() => setTimeout(() => this.drawn(performance.now() - began)));
  }

  private drawn(took: number): void {
    this.next = Math.max(this.next, performance.now() + Math.min(2 * took, most));
  }
}
