import "./search.css";

import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../../api/http";
import { type Found, type Question, search } from "../../api/search";
import { useShortcuts } from "../../frame/keys";
import { go, href, place } from "../../frame/router";
import { Page } from "../../frame/shell";
import { duration } from "../../output/output";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { type Shown, group, pieces } from "./group";

const pause = 180; // milliseconds after the last key
const most = 500; // matches that are shown

type Outcome = { found: Found; took: number; question: Question } | { failed: ApiError };

export default function SearchPage() {
  const q = asked(place.value.query);
  const [outcome, busy] = useSearch(q);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useShortcuts([{ keys: "/", does: "Search", run: () => input.current?.select() }]);
  const ask = (change: Partial<Question>) => go(href("search", address({ ...q, ...change })), true);
  return (
    <Page title="Search" tools={<Term q={q} busy={busy} input={input} ask={ask} />}>
      <Options q={q} ask={ask} />
      {q.q === "" ? <Empty /> : outcome && <OutcomeView outcome={outcome} />}
    </Page>
  );
}

/** The question that the address asks. */
function asked(query: URLSearchParams): Question {
  return {
    q: query.get("q") ?? "",
    fixed: query.get("regex") === null,
    ignoreCase: query.get("case") === null,
    word: query.get("word") !== null,
    include: query.get("include") ?? "",
    exclude: query.get("exclude") ?? "",
  };
}

function address(q: Question): Record<string, string | undefined> {
  const flag = (on?: boolean) => (on ? "1" : undefined);
  return { q: q.q, regex: flag(!q.fixed), case: flag(!q.ignoreCase), word: flag(q.word), include: q.include, exclude: q.exclude };
}

/** Asks a little after the last change, and forgets the answers to older questions. */
function useSearch(q: Question): [Outcome | undefined, boolean] {
  const [outcome, setOutcome] = useState<Outcome>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (q.q === "") return setBusy(false);
    const abort = new AbortController();
    setBusy(true);
    const timer = setTimeout(async () => {
      const began = performance.now();
      try {
        const found = await search({ ...q, context: 1, maxMatches: most }, abort.signal);
        setOutcome({ found, took: performance.now() - began, question: q });
      } catch (err) {
        if (abort.signal.aborted) return;
        setOutcome({ failed: err instanceof ApiError ? err : new ApiError(String(err), "unknown", 0) });
      }
      if (!abort.signal.aborted) setBusy(false);
    }, pause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [JSON.stringify(q)]);
  return [outcome, busy];
}

type Ask = (change: Partial<Question>) => void;

function Term(props: { q: Question; busy: boolean; input: { current: HTMLInputElement | null }; ask: Ask }) {
  return (
    <form class="search-form" role="search" onSubmit={(e) => e.preventDefault()}>
      <div class="search-term">
        <Icon name="search" size={18} />
        <input
          ref={props.input}
          class="input"
          type="search"
          aria-label="Search in your files"
          placeholder="Search in your files"
          value={props.q.q}
          onInput={(e) => props.ask({ q: e.currentTarget.value })}
        />
        {props.busy && <span class="spinner" role="status" aria-label="Searching" />}
      </div>
    </form>
  );
}

function Options({ q, ask }: { q: Question; ask: Ask }) {
  const Check = (props: { label: string; on: boolean; set: (on: boolean) => void }) => (
    <label class="check">
      <input type="checkbox" checked={props.on} onChange={(e) => props.set(e.currentTarget.checked)} /> {props.label}
    </label>
  );
  return (
    <div class="search-options">
      {Check({ label: "Match case", on: !q.ignoreCase, set: (on) => ask({ ignoreCase: !on }) })}
      {Check({ label: "Whole words", on: !!q.word, set: (word) => ask({ word }) })}
      {Check({ label: "Regular expression", on: !q.fixed, set: (on) => ask({ fixed: !on }) })}
      <input class="input" aria-label="Only files named" placeholder="only *.py" value={q.include} onInput={(e) => ask({ include: e.currentTarget.value })} />
      <input class="input" aria-label="Not files or folders named" placeholder="not node_modules" value={q.exclude} onInput={(e) => ask({ exclude: e.currentTarget.value })} />
    </div>
  );
}

function OutcomeView({ outcome }: { outcome: Outcome }) {
  if ("failed" in outcome) {
    return (
      <p class="note bad">
        {outcome.failed.message}
        {outcome.failed.requestId && <small>request {outcome.failed.requestId}</small>}
      </p>
    );
  }
  const { found, took, question } = outcome;
  const groups = group(found.matches);
  return (
    <div class="hits">
      <p class="faint" role="status">
        {summary(found, groups.length)} · {duration(took)}
      </p>
      {found.truncated && <p class="note warn">There are more lines than are shown. A longer term, or “only”, narrows it.</p>}
      {groups.map((g) => (
        <section class="card hit" key={g.path}>
          <h2>
            <Icon name="file" />
            <a href={href(`files/${g.path}`, {}, `L${g.blocks[0]![0]!.line}`)}>{visible(g.path)}</a>
            <span class="badge">{g.matches}</span>
          </h2>
          {g.blocks.map((block) => (
            <div class="block">
              {block.map((l) => (
                <LineLink path={g.path} line={l} question={question} />
              ))}
            </div>
          ))}
        </section>
      ))}
    </div>
  );
}

function summary(found: Found, files: number): string {
  const lines = found.matches.length;
  if (lines === 0) return "No line matches";
  const skipped = found.skipped.binary ? `, ${found.skipped.binary} binary files passed over` : "";
  return `${lines} ${lines === 1 ? "line" : "lines"} in ${files} ${files === 1 ? "file" : "files"}${skipped}`;
}

function LineLink({ path, line, question: q }: { path: string; line: Shown; question: Question }) {
  const parts = line.matched ? pieces(line.text, q.q, { fixed: !!q.fixed, ignoreCase: !!q.ignoreCase, word: !!q.word }) : [line.text];
  return (
    <a class="line" href={href(`files/${path}`, {}, `L${line.line}`)} title={`${visible(path)}, line ${line.line}`}>
      <span class="number">{line.line}</span>
      <span class={line.matched ? "text" : "text beside"}>
        {line.offset ? "…" : ""}
        {parts.map((p, i) => (i % 2 ? <mark>{p}</mark> : p))}
        {line.cut ? "…" : ""}
      </span>
    </a>
  );
}

function Empty() {
  return (
    <div class="empty">
      <h2>Find a word in your files</h2>
      <p>
        The search looks through everything under <a href={href("files")}>Files</a>, as you type. A click on a line opens its file there.
      </p>
      <p class="faint">
        Press <kbd>/</kbd> to get here from the keyboard.
      </p>
    </div>
  );
}
