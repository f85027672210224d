import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Style, css, spans } from "../../output/ansi";
import { duration } from "../../output/output";
import { go, place } from "../../frame/router";
import { useShortcuts } from "../../frame/keys";
import { Icon } from "../../ui/icon";
import { Find } from "./find";
import { type Row, Rows } from "./rows";
import type { Section, Watch } from "./watch";

const rowHeight = 20; // pixels; tests.css says the same
const beyond = 30; // rows drawn above and below what is seen

/** The log of a run: only what is seen is drawn, however long it is. */
export function LogView({ watch: w }: { watch: Watch }) {
  void w.version.value;
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const [follow, setFollow] = useState(!place.value.hash);
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const reach = useRef(0); // how far it was scrolled last
  const find = useMemo(() => new Find(w), [w]);
  const rows = new Rows(w.sections, folded, w.log.dropped, w.total);
  const asked = Number(/^L(\d+)$/.exec(place.value.hash)?.[1]) - 1; // NaN: none

  const show = (line: number) => {
    setFollow(false);
    setFolded((f) => new Set([...f].filter((s) => s !== rows.sectionOf(line))));
    requestAnimationFrame(() => {
      const b = box.current;
      if (b) b.scrollTop = new Rows(w.sections, new Set(), w.log.dropped, w.total).of(line) * rowHeight - b.clientHeight / 3;
    });
  };

  useEffect(() => find.step(), [w.version.value]);
  useEffect(() => {
    if (find.line !== undefined) show(find.line);
  }, [find.current.value, find.term.value, find.found.value.length > 0]);
  const reached = asked < w.total;
  useEffect(() => {
    if (asked >= 0 && reached) show(asked);
  }, [asked, reached]);
  useEffect(() => {
    const b = box.current;
    if (follow && b) b.scrollTop = b.scrollHeight;
  }, [follow, w.version.value, rows.count]);

  const input = useRef<HTMLInputElement>(null);
  useShortcuts([
    { keys: "/", does: "Search in the log", run: () => input.current?.select() },
    { keys: "n", does: "Next place found", run: () => find.move(1) },
    { keys: "N", does: "Place found before", run: () => find.move(-1) },
    { keys: "f", does: "Follow the log, or pause", run: () => setFollow(!follow) },
  ]);

  const fold = (section: number) => {
    const next = new Set(folded);
    if (!next.delete(section)) next.add(section);
    setFolded(next);
    setFollow(false);
  };

  const height = box.current?.clientHeight ?? 600;
  const at = follow ? Math.max(rows.count * rowHeight - height, 0) : top;
  const from = Math.max(Math.floor(at / rowHeight) - beyond, 0);
  const to = Math.min(Math.ceil((at + height) / rowHeight) + beyond, rows.count);
  const drawn = [];
  for (let i = from; i < to; i++) {
    const row = rows.at(i);
    if (row) drawn.push(<RowView key={row.kind === "line" ? row.line : `p${row.section}`} row={row} watch={w} folded={folded} fold={fold} term={find.term.value} chosen={find.line ?? asked} />);
  }
  return (
    <section class="log card" aria-label="Log">
      <div class="log-bar">
        <input
          ref={input}
          class="input"
          type="search"
          placeholder="Search in the log"
          aria-label="Search in the log"
          onInput={(e) => find.ask(e.currentTarget.value)}
          onKeyDown={(e) => e.key === "Enter" && (e.preventDefault(), find.move(e.shiftKey ? -1 : 1))}
        />
        {find.term.value && (
          <span class="faint" role="status">
            {find.found.value.length ? `${find.current.value + 1} of ${find.found.value.length}` : "not found"}
          </span>
        )}
        <span class="gap" />
        <span class="faint">{w.total.toLocaleString("en")} lines</span>
        <button class="button small" aria-pressed={follow} onClick={() => setFollow(!follow)}>
          <Icon name="follow" /> {follow ? "Following" : "Follow"}
        </button>
      </div>
      <div
        ref={box}
        class="log-box"
        tabIndex={0}
        role="log"
        aria-label="Lines"
        aria-live="off"
        onScroll={(e) => {
          const b = e.currentTarget;
          const atEnd = b.scrollHeight - b.scrollTop - b.clientHeight < 2 * rowHeight;
          if (follow && !atEnd && b.scrollTop < reach.current) setFollow(false);
          if (!follow || !atEnd) setTop(b.scrollTop);
          reach.current = b.scrollTop;
        }}
      >
        <div class="log-lines" style={{ height: `${rows.count * rowHeight}px` }}>
          <div style={{ transform: `translateY(${from * rowHeight}px)` }}>{drawn}</div>
        </div>
      </div>
    </section>
  );
}

interface RowProps {
  row: Row;
  watch: Watch;
  folded: ReadonlySet<number>;
  fold: (section: number) => void;
  term: string;
  chosen: number;
}

function RowView({ row, watch: w, folded, fold, term, chosen }: RowProps) {
  if (row.kind === "phase") {
    return <PhaseRow section={w.sections[row.section]!} folded={folded.has(row.section)} toggle={() => fold(row.section)} />;
  }
  const line = w.log.lines[row.line - w.log.dropped];
  if (!line) return null;
  const number = row.line + 1;
  return (
    <div class={`log-row ${line.stream}`} data-chosen={row.line === chosen}>
      <button class="number" tabIndex={-1} aria-label={`Link to line ${number}`} onClick={() => go(`${location.pathname}#L${number}`, true)}>
        {number}
      </button>
      <LineText text={line.text} style={line.style} term={term} />
    </div>
  );
}

function PhaseRow({ section: s, folded, toggle }: { section: Section; folded: boolean; toggle: () => void }) {
  const bad = s.exitCode !== undefined && s.exitCode !== 0;
  return (
    <button class="log-phase" aria-expanded={!folded} onClick={toggle}>
      <span class={folded ? "turn" : "turn wide"}>
        <Icon name="right" size={12} />
      </span>
      {s.phase}
      {!s.ended && <span class="spinner" />}
      {s.durationMs !== undefined && <span class="faint">{duration(s.durationMs)}</span>}
      {bad && <span class="badge bad">exit {s.exitCode}</span>}
    </button>
  );
}

const longest = 2000; // characters of a line that are drawn

const LineText = memo(function LineText({ text, style, term }: { text: string; style?: Style; term: string }) {
  const all = spans(text.slice(0, longest), style);
  return (
    <span class="text">
      {all.map((s) => (
        <span style={s.style && css(s.style)}>{term ? marked(s.text, term) : s.text}</span>
      ))}
      {text.length > longest && <span class="faint"> … {text.length - longest} more characters</span>}
    </span>
  );
});

function marked(text: string, term: string) {
  const parts = [];
  const low = text.toLowerCase();
  const wanted = term.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(wanted); at >= 0 && parts.length < 200; at = low.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark>{text.slice(at, at + wanted.length)}</mark>);
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}
