import type { Sandbox } from "../../api/sandboxes";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { bytes } from "../files/tree";
import { busy, canSleep, destroyAsked, key, sleepNow, wakeNow } from "./state";
import { ago, appName, fate, pageOf, stateOf } from "./words";

export function SandboxRow({ sandbox: s }: { sandbox: Sandbox }) {
  const now = Date.now();
  return (
    <tr>
      <td data-label="Sandbox">
        <Name sandbox={s} />
      </td>
      <td data-label="State">
        <State sandbox={s} />
        <Fate words={fate(s, now, canSleep.value)} />
      </td>
      <td data-label="Last used">
        <time dateTime={s.lastUsed} title={new Date(s.lastUsed).toLocaleString()}>
          {ago(s.lastUsed, now)}
        </time>
      </td>
      <td data-label="Memory" class="number">
        {s.memoryBytes ? bytes(s.memoryBytes) : "–"}
      </td>
      <td data-label="Disk" class="number">
        {bytes(s.diskBytes)}
      </td>
      <td class="actions">
        <Actions sandbox={s} />
      </td>
    </tr>
  );
}

function Name({ sandbox: s }: { sandbox: Sandbox }) {
  const page = pageOf(s);
  const name = visible(s.name);
  return (
    <>
      {page ? <a href={page}>{name}</a> : <span class="name">{name}</span>}
      <span class="faint">{appName(s.app)}</span>
    </>
  );
}

function State({ sandbox: s }: { sandbox: Sandbox }) {
  const { look, word } = stateOf(s.state);
  return (
    <span class={`badge ${look}`}>
      {look === "busy" && <span class="spinner" />}
      {word}
    </span>
  );
}

function Fate({ words }: { words: string }) {
  return words ? <span class="faint"> · {words}</span> : null;
}

function Actions({ sandbox: s }: { sandbox: Sandbox }) {
  const waits = busy.value.has(key(s));
  const called = `${appName(s.app)} ${visible(s.name)}`;
  return (
    <>
      {waits && <span class="spinner" role="status" aria-label="Working" />}
      {s.state === "running" && canSleep.value && (
        <button class="button small" disabled={waits} aria-label={`Put ${called} to sleep`} onClick={() => void sleepNow(s)}>
          <Icon name="moon" size={14} /> Sleep
        </button>
      )}
      {s.state === "hibernated" && (
        <button class="button small" disabled={waits} aria-label={`Wake ${called}`} onClick={() => void wakeNow(s)}>
          <Icon name="sun" size={14} /> Wake
        </button>
      )}
      <button class="button small danger" disabled={waits} aria-label={`Destroy ${called}`} onClick={() => void destroyAsked(s)}>
        <Icon name="trash" size={14} /> Destroy
      </button>
    </>
  );
}
