import { useEffect, useState } from "preact/hooks";

import { cancelRun, type Order, type Run, startRun, verdict } from "../../api/tests";
import { tellError } from "../../frame/notices";
import { go, href } from "../../frame/router";
import { Page } from "../../frame/shell";
import { duration } from "../../output/output";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { bytes } from "../files/tree";
import { LogView } from "./logview";
import { Results } from "./results";
import { Watch } from "./watch";

/** One run, live or long ago. */
export function RunView({ id }: { id: string }) {
  const [w, setWatch] = useState<Watch>();
  useEffect(() => {
    const watch = new Watch(id);
    setWatch(watch);
    return () => watch.close();
  }, [id]);
  if (!w) return null;
  const run = w.run.value;
  return (
    <Page title={run ? titleOf(run) : "Tests"} class="run-view" tools={run && <Tools run={run} />}>
      {w.failed.value && (
        <p class="note bad">
          {w.failed.value.message}
          {w.failed.value.requestId && <small>request {w.failed.value.requestId}</small>}
        </p>
      )}
      {run && <Summary run={run} watch={w} />}
      {run?.error && <p class="note bad">{run.error.message}</p>}
      {run?.results && <Results results={run.results} disagree={run.resultsDisagree} />}
      {run && run.artifacts?.length > 0 && <Artifacts run={run} />}
      {run?.truncated && <p class="note warn">There was more output than is kept; the rest was dropped.</p>}
      {run && <LogView watch={w} />}
    </Page>
  );
}

function Summary({ run, watch: w }: { run: Run; watch: Watch }) {
  const v = verdict(run);
  return (
    <dl class="summary">
      <div>
        <dt class="visually-hidden">Status</dt>
        <dd>
          <span role="status">
            <span class={`badge ${v.look}`}>
              {v.look === "busy" && <span class="spinner" />}
              {w.position.value > 0 ? `${w.position.value}. in the queue` : v.word}
            </span>{" "}
            {!w.connected.value && <span class="badge warn">connecting again</span>}
          </span>
        </dd>
      </div>
      {run.repository && (
        <div>
          <dt>Repository</dt>
          <dd class="mono">{run.repository}</dd>
        </div>
      )}
      {run.restored && (
        <div>
          <dt>Started from backup</dt>
          <dd class="mono">{run.restored}</dd>
        </div>
      )}
      {(run.ref || run.commit) && (
        <div>
          <dt>Revision</dt>
          <dd class="mono">{[run.ref, run.commit?.slice(0, 10)].filter(Boolean).join(" · ")}</dd>
        </div>
      )}
      <div>
        <dt>Command</dt>
        <dd class="mono">{run.command}</dd>
      </div>
      {run.backup && (
        <div>
          <dt>Kept as backup</dt>
          <dd class="mono">{run.backup.id}</dd>
        </div>
      )}
      {run.durationMs ? (
        <div>
          <dt>Took</dt>
          <dd>{duration(run.durationMs)}</dd>
        </div>
      ) : null}
    </dl>
  );
}

function Tools({ run }: { run: Run }) {
  const again = async (from: Order) => {
    try {
      const command = run.ownCommand ? run.command : undefined;
      const next = await startRun({ ...from, command });
      go(href(`tests/${next.id}`));
    } catch (err) {
      tellError("It could not be run again", err);
    }
  };
  return (
    <div class="toolbar">
      <span class="gap" />
      {run.endedAt ? (
        <>
          {run.backup && (
            <button class="button" title="Without clone and install" onClick={() => void again({ restore: run.backup!.id })}>
              <Icon name="restart" /> Run from its backup
            </button>
          )}
          <button class="button" onClick={() => void again(sourceOf(run))}>
            <Icon name="restart" /> Run again
          </button>
        </>
      ) : (
        <button class="button danger" onClick={() => void cancelRun(run.id).catch((err) => tellError("It could not be canceled", err))}>
          <Icon name="stop" /> Cancel
        </button>
      )}
      <a class="button plain" href={href("tests")}>
        All runs
      </a>
    </div>
  );
}

function Artifacts({ run }: { run: Run }) {
  return (
    <section class="artifacts" aria-label="Files that the run left">
      {run.artifacts.map((a) => (
        <a class="button small" href={a.url} download>
          <Icon name="download" /> {visible(a.name)} <span class="faint">{bytes(a.size)}</span>
        </a>
      ))}
    </section>
  );
}

/** What a run is called. */
export function titleOf(run: Run): string {
  return run.repository ? shortName(run.repository) : "From a backup";
}

function sourceOf(run: Run): Order {
  return run.repository ? { repository: run.repository, ref: run.ref } : { restore: run.restored };
}

/** "you/project" of a repository's address. */
function shortName(repository: string): string {
  return repository.replace(/^\w+:\/\/[^/]+\//, "").replace(/\.git$/, "") || repository;
}
