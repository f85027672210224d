// How a notebook's kernel is, and how it came about.

import { signal } from "@preact/signals";

import { allSandboxes, wake } from "../../api/sandboxes";

interface Word {
  look: "good" | "warn" | "";
  word: string;
  says: string;
}

const asleep: Word = { look: "", word: "asleep", says: "It is on disk with its variables. The next cell wakes it." };

const starts: Record<string, Word> = {
  fresh: { look: "", word: "new kernel", says: "It began with the first cell that ran." },
  running: { look: "good", word: "running", says: "It holds the variables of the cells before." },
  woken: { look: "good", word: "woken", says: "It was asleep; its variables are all there." },
  restarted: { look: "warn", word: "started anew", says: "The variables of before are gone." },
};

export class Kernel {
  readonly is = signal<Word | undefined>(undefined);
  /** What is to be said aloud, if it lost what was there. */
  readonly lost = signal("");

  constructor(private readonly notebook: string) {}

  get sleeps(): boolean {
    return this.is.value === asleep;
  }

  /** Takes what a cell was told of its kernel. */
  started(start?: string, why?: string): void {
    if (!start) return;
    this.is.value = starts[start];
    this.lost.value = start === "restarted" ? `The kernel was started anew${why ? `: ${why}` : ""}. The variables of before are gone.` : "";
  }

  restarted(): void {
    this.is.value = undefined;
    this.lost.value = "The kernel was restarted. The next cell finds no variables.";
  }

  /** Asks whether its sandbox is there, which it says, and sleeps. That wakes
   * nothing. A gateway that does not say is no reason to say anything. */
  async look(end?: AbortSignal): Promise<boolean | undefined> {
    const listed = await allSandboxes(end).catch(() => undefined);
    const mine = listed?.sandboxes.find((s) => s.app === "notebook" && s.name === this.notebook);
    if (mine?.state === "hibernated") this.is.value = asleep;
    else if (this.sleeps) this.is.value = starts.woken;
    return listed && !!mine;
  }

  async wake(): Promise<void> {
    await wake({ app: "notebook", name: this.notebook });
    this.is.value = starts.woken;
  }
}
