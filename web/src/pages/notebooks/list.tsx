import { request } from "../../api/http";
import { confirm, prompt } from "../../frame/dialog";
import { tell, tellError } from "../../frame/notices";
import { go, href } from "../../frame/router";
import { Page } from "../../frame/shell";
import { Icon } from "../../ui/icon";
import { dropSession } from "./session";
import { entries, forget, nameProblem } from "./store";

/** The notebooks that this browser knows. */
export function List() {
  return (
    <Page
      title="Notebooks"
      tools={
        <div class="toolbar">
          <button class="button primary" onClick={() => void create()}>
            <Icon name="plus" /> New notebook
          </button>
        </div>
      }
    >
      {entries.value.length === 0 ? (
        <div class="empty">
          <h2>Code in cells that remember</h2>
          <p>Each notebook has a sandbox of its own. What a cell defines is there for the next; plots and tables are shown below their cell.</p>
          <p>
            <a class="button primary" href={href("notebooks/scratch")}>
              Open “scratch”
            </a>
          </p>
        </div>
      ) : (
        <ul class="notebook-list">
          {entries.value.map((e) => (
            <li class="card" key={e.name}>
              <Icon name="notebook" />
              <a href={href(`notebooks/${e.name}`)}>{e.name}</a>
              <time class="faint" dateTime={new Date(e.changed).toISOString()}>
                {new Date(e.changed).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
              </time>
              <button class="button small icon plain" aria-label={`Delete ${e.name}`} onClick={() => void remove(e.name)}>
                <Icon name="trash" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="faint" style={{ marginTop: "var(--s5)" }}>
        Cells are kept in this browser; the sandbox and its files are kept by the gateway.
      </p>
    </Page>
  );
}

async function create(): Promise<void> {
  const name = await prompt("New notebook", "Its name", "Create", `notebook-${entries.value.length + 1}`);
  if (name === undefined) return;
  const problem = nameProblem(name);
  if (problem) return tell(problem);
  go(href(`notebooks/${name.trim()}`));
}

async function remove(name: string): Promise<void> {
  if (!(await confirm(`Delete “${name}”?`, "Its cells, its variables and the files of its sandbox are gone then.", "Delete"))) return;
  try {
    await request("/notebook", { method: "DELETE", query: { notebook: name, files: true } });
  } catch (err) {
    return tellError(`“${name}” could not be deleted`, err);
  }
  forget(name);
  dropSession(name);
  tell(`“${name}” was deleted`);
}
