import { useEffect } from "preact/hooks";

import { request } from "../../api/http";
import { confirm, prompt } from "../../frame/dialog";
import { tell, tellError } from "../../frame/notices";
import { go } from "../../frame/router";
import { Page } from "../../frame/shell";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { notebookPage } from "./address";
import { type Row, freeName, look, there, together, untold } from "./all";
import { dropSession } from "./session";
import { entries, forget, nameProblem } from "./store";

/** The notebooks that this browser keeps, and those that the gateway has. */
export function List() {
  useEffect(() => {
    const leave = new AbortController();
    void look(leave.signal);
    return () => leave.abort();
  }, []);
  const rows = together(entries.value, there.value ?? []);
  const known = there.value || untold.value;
  return (
    <Page
      title="Notebooks"
      tools={
        <div class="toolbar">
          <button class="button primary" onClick={() => void create(freeName(rows))}>
            <Icon name="plus" /> New notebook
          </button>
        </div>
      }
    >
      {rows.length === 0 && known && <Empty />}
      {rows.length > 0 && (
        <ul class="notebook-list">
          {rows.map((r) => (
            <RowView key={r.name} row={r} />
          ))}
        </ul>
      )}
      {untold.value && <p class="note warn">What the gateway has is not listed: {untold.value}</p>}
      <p class="faint" style={{ marginTop: "var(--s5)" }}>
        Cells are kept in the browser that they were written in; the sandbox and its files are kept by the gateway.
      </p>
    </Page>
  );
}

function Empty() {
  return (
    <div class="empty">
      <h2>Code in cells that remember</h2>
      <p>Each notebook has a sandbox of its own. What a cell defines is there for the next; plots and tables are shown below their cell.</p>
      <p>
        <a class="button primary" href={notebookPage("scratch")}>
          Open “scratch”
        </a>
      </p>
    </div>
  );
}

function RowView({ row: r }: { row: Row }) {
  const name = visible(r.name);
  return (
    <li class="card">
      <Icon name="notebook" />
      <div>
        <a href={notebookPage(r.name)}>{name}</a>
        {r.elsewhere && <span class="faint">cells are in another browser</span>}
      </div>
      <time class="faint" dateTime={new Date(r.changed).toISOString()}>
        {new Date(r.changed).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
      </time>
      <button class="button small icon plain" aria-label={`Delete ${name}`} onClick={() => void remove(r)}>
        <Icon name="trash" />
      </button>
    </li>
  );
}

async function create(free: string): Promise<void> {
  const name = (await prompt("New notebook", "Its name", "Create", free))?.trim();
  if (name === undefined) return;
  const problem = nameProblem(name);
  if (problem) return tell(problem);
  go(notebookPage(name));
}

async function remove({ name, elsewhere }: Row): Promise<void> {
  const shown = visible(name);
  const loss = elsewhere
    ? "Its variables and the files of its sandbox are gone then. Its cells stay in the other browser."
    : "Its cells, its variables and the files of its sandbox are gone then.";
  if (!(await confirm(`Delete “${shown}”?`, loss, "Delete"))) return;
  try {
    await request("/notebook", { method: "DELETE", query: { notebook: name, files: true } });
  } catch (err) {
    return tellError(`“${shown}” could not be deleted`, err);
  }
  there.value = there.value?.filter((s) => s.app !== "notebook" || s.name !== name);
  forget(name);
  dropSession(name);
  tell(`“${shown}” was deleted`);
}
