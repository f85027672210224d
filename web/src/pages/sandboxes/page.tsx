import "./sandboxes.css";

import { useEffect } from "preact/hooks";

import type { Sandbox } from "../../api/sandboxes";
import { href } from "../../frame/router";
import { Page } from "../../frame/shell";
import { SandboxRow } from "./row";
import { failed, key, more, sandboxes, watch } from "./state";
import { summary } from "./words";

/** Every sandbox of the visitor, and what can be done with it. */
export default function SandboxesPage() {
  useEffect(() => {
    const leave = new AbortController();
    void watch(leave.signal);
    return () => leave.abort();
  }, []);
  const all = sandboxes.value;
  return (
    <Page title="Sandboxes" class="sandboxes">
      {failed.value && (
        <p class="note bad" role="alert">
          {failed.value.message}
          {failed.value.requestId && <small>request {failed.value.requestId}</small>}
        </p>
      )}
      {all && (all.length === 0 ? <Empty /> : <Table all={all} />)}
    </Page>
  );
}

function Table({ all }: { all: Sandbox[] }) {
  return (
    <>
      <p class="faint" role="status">
        {summary(all)}
      </p>
      <table class="listing card">
        <thead>
          <tr>
            <th scope="col">Sandbox</th>
            <th scope="col">State</th>
            <th scope="col">Last used</th>
            <th scope="col" class="number">
              Memory
            </th>
            <th scope="col" class="number">
              Disk
            </th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {all.map((s) => (
            <SandboxRow key={key(s)} sandbox={s} />
          ))}
        </tbody>
      </table>
      {more.value && <p class="faint">There are more than are shown.</p>}
    </>
  );
}

function Empty() {
  return (
    <div class="empty">
      <h2>No sandbox is there yet</h2>
      <p>
        Each notebook, the code runner and your files have one of their own, made when it is first needed. <a href={href("run")}>Run some code</a>, and it is here.
      </p>
    </div>
  );
}
