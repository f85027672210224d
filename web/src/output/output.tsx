import "./output.css";

import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";

import type { Exit } from "../api/types";
import { spans } from "./ansi";
import type { Execution, Item } from "./execution";
import { LineView } from "./line";
import type { Log } from "./log";
import { ResultView } from "./result";

/** Everything that an execution gave so far. */
export function Output({ execution: x }: { execution: Execution }) {
  void x.version.value; // draw again when it changes
  return (
    <div class="output">
      {x.items.map((item, i) => (
        <ItemView key={i} item={item} version={i === x.items.length - 1 ? x.version.value : 0} />
      ))}
      {x.exit?.error && !printed(x) && <pre class="traceback">{x.exit.error.traceback.join("\n")}</pre>}
      {x.exit && <Ending exit={x.exit} />}
      {x.failure && (
        <p class="note bad">
          {x.failure.message}
          {x.failure.requestId && <small>request {x.failure.requestId}</small>}
        </p>
      )}
    </div>
  );
}

/** Whether the traceback is in what was printed, as Python's is. */
function printed(x: Execution): boolean {
  return x.items.some((i) => i.kind === "log" && i.log.lines.some((l) => l.stream === "stderr"));
}

const ItemView = memo(function ItemView({ item }: { item: Item; version: number }) {
  switch (item.kind) {
    case "log":
      return <LogView log={item.log} />;
    case "result":
      return <ResultView result={item.result} />;
    case "warning":
      return <p class="note warn">{item.text}</p>;
  }
});

const block = 200; // lines that are drawn together, and again only when one changes

function LogView({ log }: { log: Log }) {
  const blocks = [];
  // Blocks begin at the same lines whatever went from the front, so that they stay.
  for (let from = 0, to; from < log.lines.length; from = to) {
    const number = Math.floor((log.dropped + from) / block);
    to = (number + 1) * block - log.dropped;
    const lines = log.lines.slice(from, to);
    const last = lines[lines.length - 1]!;
    blocks.push(<Block key={number} lines={lines} mark={`${lines.length}.${last.text.length}.${last.text.slice(-16)}`} />);
  }
  return (
    <div>
      {log.dropped > 0 && <p class="faint">The first {log.dropped} lines are no longer shown.</p>}
      <pre class="stream">{blocks}</pre>
    </div>
  );
}

interface Together {
  stream: string;
  shown: ComponentChildren;
}

/** Lines that look alike are one piece of text: most logs are nothing else. */
function together(lines: Log["lines"]): Together[] {
  const all: Together[] = [];
  for (const l of lines) {
    const last = all[all.length - 1];
    const alike = !l.style && !l.text.includes("\x1b");
    const text = alike && `${spans(l.text)[0]!.text}\n`;
    if (alike && last?.stream === l.stream && typeof last.shown === "string") last.shown += text;
    else all.push({ stream: l.stream, shown: text || <LineView line={l} /> });
  }
  return all;
}

const Block = memo(
  function Block({ lines }: { lines: Log["lines"]; mark: string }) {
    return <div class="lines">{together(lines).map((t) => (t.stream === "stderr" ? <span class="stderr">{t.shown}</span> : t.shown))}</div>;
  },
  (a, b) => a.mark === b.mark && a.lines[0] === b.lines[0],
);

/** What is to be said of an end that was not simply one. */
function Ending({ exit }: { exit: Exit }) {
  const text = ending(exit);
  return (
    <>
      {exit.truncated && <p class="note warn">There was more output than is kept; the rest was dropped.</p>}
      {text && <p class="note bad">{text}</p>}
    </>
  );
}

function ending(exit: Exit): string | undefined {
  switch (exit.status) {
    case "timed_out":
      return "It took too long and was ended.";
    case "oom_killed":
      return "It ran out of memory and was ended. " + (exit.error?.message ?? "");
    case "output_limited":
      return "It printed more than is borne and was ended.";
    case "canceled":
      return "It was stopped.";
    case "signaled":
      return exit.kernelDied ?? `It was ended by ${exit.signal ?? "a signal"}.`;
  }
  return exit.kernelDied;
}

/** How an execution stands, in a word and how long it took. */
export function Status({ execution: x }: { execution: Execution }) {
  const state = x.state.value;
  const time = <Elapsed since={x.begun} took={x.exit?.durationMs} running={state === "running"} />;
  if (state === "running") {
    return (
      <span class="badge busy">
        <span class="spinner" /> {x.connected.value ? "running" : "connecting again"} {time}
      </span>
    );
  }
  if (state === "failed") return <span class="badge bad">did not run</span>;
  const good = x.exit?.status === "exited" && x.exit.exitCode === 0;
  const word = good ? "done" : x.exit?.status === "exited" ? (x.exit.error?.name ?? `exit ${x.exit.exitCode}`) : x.exit?.status.replace("_", " ");
  return (
    <span class={good ? "badge good" : "badge bad"}>
      {word} {time}
    </span>
  );
}

function Elapsed(props: { since: number; took?: number; running: boolean }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!props.running) return;
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, [props.running]);
  if (props.took === undefined && !props.running) return null;
  return <>{duration(props.took ?? Math.max(now - props.since, 0))}</>;
}

/** Milliseconds as people say them. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
