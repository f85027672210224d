import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../../api/http";
import { type Run, listRuns, startRun, verdict } from "../../api/tests";
import { remember, remembered } from "../../frame/memory";
import { go, href } from "../../frame/router";
import { Page } from "../../frame/shell";
import { duration } from "../../output/output";
import { Icon } from "../../ui/icon";
import { titleOf } from "./runview";

const again = 3000; // milliseconds between looks at runs that go on

export function List() {
  const [runs, setRuns] = useState<Run[]>();
  const [next, setNext] = useState<string>();
  const [failed, setFailed] = useState<ApiError>();
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const look = () =>
      listRuns(undefined, abort.signal).then(
        (page) => {
          // What was loaded beyond the first page stays below it.
          setRuns((before) => [...page.runs, ...(before ?? []).slice(page.runs.length)]);
          setNext((n) => n ?? page.next);
          setFailed(undefined);
          if (page.runs.some((r) => !r.endedAt)) timer = window.setTimeout(look, again);
        },
        (err) => abort.signal.aborted || setFailed(err),
      );
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
  const more = async () => {
    const page = await listRuns(next);
    setRuns([...(runs ?? []), ...page.runs]);
    setNext(page.next);
  };
  return (
    <Page title="Tests" class="tests">
      <Form />
      {failed && <p class="note bad">{failed.message}</p>}
      {runs?.length === 0 && <Empty />}
      {runs && runs.length > 1 && <Chart runs={runs} />}
      {runs && runs.length > 0 && (
        <ul class="runs card">
          {runs.map((r) => (
            <RunRow key={r.id} run={r} />
          ))}
        </ul>
      )}
      {next && (
        <button class="button" onClick={() => void more()}>
          Older runs
        </button>
      )}
    </Page>
  );
}

interface Typed {
  repository: string;
  ref: string;
  command: string;
  artifacts: string;
}

function Form() {
  const [typed, setTyped] = useState<Typed>(remembered<Typed>("tests") ?? { repository: "", ref: "", command: "", artifacts: "" });
  const [failed, setFailed] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const repository = useRef<HTMLInputElement>(null);
  useEffect(() => repository.current?.focus(), []);
  const field = (name: keyof Typed) => ({
    value: typed[name],
    onInput: (e: { currentTarget: HTMLInputElement }) => {
      const now = { ...typed, [name]: e.currentTarget.value };
      setTyped(now);
      remember("tests", { ...now, repository: now.repository.replace(/\/\/[^/@]*@/, "//") });
    },
  });
  const start = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setFailed(undefined);
    try {
      const artifacts = typed.artifacts.split(/[\s,]+/).filter(Boolean);
      const run = await startRun({
        repository: typed.repository.trim(),
        ref: typed.ref.trim() || undefined,
        command: typed.command.trim() || undefined,
        artifacts: artifacts.length ? artifacts : undefined,
      });
      go(href(`tests/${run.id}`));
    } catch (err) {
      setFailed(err instanceof ApiError ? err : new ApiError(String(err), "unknown", 0));
    }
    setBusy(false);
  };
  return (
    <form class="test-form card" onSubmit={start}>
      <label class="field wide">
        <span>Repository</span>
        <input class="input mono" required placeholder="https://…/you/project.git" spellcheck={false} ref={repository} {...field("repository")} />
      </label>
      <label class="field">
        <span>Branch, tag or commit</span>
        <input class="input mono" placeholder="the default branch" spellcheck={false} {...field("ref")} />
      </label>
      <button class="button primary" disabled={busy}>
        {busy ? <span class="spinner" /> : <Icon name="run" />} Run the tests
      </button>
      <details class="wide">
        <summary>More</summary>
        <div class="test-more">
          <label class="field">
            <span>Command, instead of install and npm test</span>
            <input class="input mono" placeholder="npm ci && npm test" spellcheck={false} {...field("command")} />
          </label>
          <label class="field">
            <span>Files to keep</span>
            <input class="input mono" placeholder="coverage/**/*.html" spellcheck={false} {...field("artifacts")} />
          </label>
        </div>
      </details>
      {failed && (
        <p class="note bad wide" role="alert">
          {failed.message}
          {failed.requestId && <small>request {failed.requestId}</small>}
        </p>
      )}
    </form>
  );
}

function RunRow({ run: r }: { run: Run }) {
  const v = verdict(r);
  return (
    <li>
      <a href={href(`tests/${r.id}`)}>
        <span class={`badge ${v.look}`}>
          {v.look === "busy" && <span class="spinner" />}
          {v.word}
        </span>
        <span class="name">
          {titleOf(r)} <span class="faint mono">{[r.ref, r.commit?.slice(0, 7)].filter(Boolean).join(" · ")}</span>
        </span>
        <span class="faint">{r.results ? counts(r) : ""}</span>
        <span class="faint number">{r.durationMs ? duration(r.durationMs) : ""}</span>
        <time class="faint" dateTime={r.createdAt}>
          {new Date(r.createdAt).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
        </time>
      </a>
    </li>
  );
}

function counts(r: Run): string {
  const { passed, failed } = r.results!;
  return failed ? `${failed} failed, ${passed} passed` : `${passed} passed`;
}

/** The newest runs as bars: how long each took, and how it ended. It says nothing
 * that the list below does not say in words. */
function Chart({ runs }: { runs: Run[] }) {
  const ended = runs.filter((r) => r.durationMs).slice(0, 40).reverse();
  if (ended.length < 2) return null;
  const longest = Math.max(...ended.map((r) => r.durationMs!));
  return (
    <div class="chart" aria-hidden="true">
      {ended.map((r) => (
        <a
          href={href(`tests/${r.id}`)}
          tabIndex={-1}
          title={`${titleOf(r)}: ${verdict(r).word}, ${duration(r.durationMs!)}`}
          class={verdict(r).look}
          style={{ height: `${Math.max((r.durationMs! / longest) * 100, 6)}%` }}
        />
      ))}
    </div>
  );
}

function Empty() {
  return (
    <div class="empty">
      <h2>Watch a repository’s tests run</h2>
      <p>
        Paste its address. It is cloned into a new sandbox, <code>npm ci</code> and <code>npm test</code> run there, and every line is here as it is printed. The run goes on when you leave, and is here
        when you come back.
      </p>
    </div>
  );
}
