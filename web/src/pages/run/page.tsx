import "./run.css";

import { useEffect, useState } from "preact/hooks";

import { request } from "../../api/http";
import { languages } from "../../api/run";
import { Editor } from "../../editor/editor";
import { useShortcuts } from "../../frame/keys";
import { tell, tellError } from "../../frame/notices";
import { go, href, place } from "../../frame/router";
import { Page } from "../../frame/shell";
import { Output, Status } from "../../output/output";
import { Icon } from "../../ui/icon";
import { examples } from "./examples";
import { pack, unpack } from "./share";
import { code, execution, fresh, language, run, setCode, stdin, stop } from "./state";

export default function RunPage() {
  const x = execution.value;
  const running = x?.state.value === "running";
  const [showStdin, setShowStdin] = useState(stdin.value !== "");
  useSharedCode(() => setShowStdin(stdin.value !== ""));
  useShortcuts([
    { keys: "Mod+Enter", does: "Run the code", run, inText: true },
    { keys: "Mod+.", does: "Stop what runs", run: stop, inText: true },
    { keys: "Escape Tab", does: "Leave the editor" },
  ]);
  return (
    <Page title="Run" class="run" tools={<Tools running={running} showStdin={showStdin} onStdin={() => setShowStdin(!showStdin)} />}>
      <div class="left">
        <Editor
          key={language.value}
          label={`Code in ${language.value}`}
          language={language.value}
          value={code.value[language.value] ?? ""}
          onChange={setCode}
          keys={[{ key: "Mod-Enter", run }]}
          markLine={x?.exit?.error?.lineNumber}
          autofocus
        />
        {showStdin && (
          <label class="field stdin">
            <span>Standard input</span>
            <textarea class="input" value={stdin.value} onInput={(e) => (stdin.value = e.currentTarget.value)} />
          </label>
        )}
      </div>
      <section class="right" aria-label="Output" aria-live="polite" aria-busy={running}>
        {x ? (
          <>
            <Status execution={x} />
            <Output execution={x} />
          </>
        ) : (
          <Empty />
        )}
      </section>
    </Page>
  );
}

function Tools(props: { running: boolean; showStdin: boolean; onStdin: () => void }) {
  return (
    <div class="toolbar">
      <select class="select" aria-label="Language" value={language.value} onChange={(e) => (language.value = e.currentTarget.value)}>
        {languages.map((l) => (
          <option value={l.name}>{l.label}</option>
        ))}
      </select>
      {props.running ? (
        <button class="button danger" onClick={stop}>
          <Icon name="stop" /> Stop
        </button>
      ) : (
        <button class="button primary" onClick={() => void run()}>
          <Icon name="run" /> Run
        </button>
      )}
      <label class="check" title="Run in a sandbox of its own that is gone afterwards">
        <input type="checkbox" checked={fresh.value} onChange={(e) => (fresh.value = e.currentTarget.checked)} /> Fresh
      </label>
      <button class="button plain" aria-pressed={props.showStdin} onClick={props.onStdin}>
        Input
      </button>
      <span class="gap" />
      <Examples />
      <button class="button plain" title="Forget the variables, end what runs" onClick={() => void restart()}>
        <Icon name="restart" /> Restart
      </button>
      <button class="button plain" onClick={() => void share()}>
        <Icon name="link" /> Share
      </button>
    </div>
  );
}

function Examples() {
  return (
    <select
      class="select"
      aria-label="Start from an example"
      value=""
      onChange={(e) => {
        const chosen = examples.find((x) => x.name === e.currentTarget.value);
        e.currentTarget.value = "";
        if (!chosen) return;
        language.value = chosen.language;
        stdin.value = chosen.stdin ?? "";
        const before = code.value[chosen.language] ?? "";
        setCode(chosen.code);
        tell(`“${chosen.name}” replaced your ${chosen.language}`, { label: "Undo", run: () => setCode(before) });
      }}
    >
      <option value="">Examples</option>
      {examples.map((x) => (
        <option value={x.name}>{x.name}</option>
      ))}
    </select>
  );
}

function Empty() {
  return (
    <div class="empty">
      <h2>Write code, press Run</h2>
      <p>It runs in your own sandbox, without a network. Variables stay from one run to the next; “Fresh” runs in a new sandbox that is gone afterwards.</p>
      <p class="faint">
        Files are in <code>/workspace</code>. Press <kbd>?</kbd> for the keyboard.
      </p>
    </div>
  );
}

async function restart(): Promise<void> {
  try {
    await request("/run", { method: "DELETE", query: { language: language.value } });
    tell(`The ${language.value} interpreter starts anew with the next run`);
  } catch (err) {
    tellError("It could not be restarted", err);
  }
}

async function share(): Promise<void> {
  const hash = await pack({ language: language.value, code: code.value[language.value] ?? "", stdin: stdin.value || undefined });
  if (!hash) return tell("This is too much code for a link");
  go(href("run", {}, hash), true);
  try {
    await navigator.clipboard.writeText(location.href);
    tell("A link with this code was copied");
  } catch {
    tell("The address of this page now carries the code");
  }
}

/** Takes the code that a link carries, once. */
function useSharedCode(taken: () => void) {
  const hash = place.value.hash;
  useEffect(() => {
    if (!hash) return;
    void unpack(hash).then((shared) => {
      if (!shared || !languages.some((l) => l.name === shared.language)) return;
      language.value = shared.language;
      setCode(shared.code);
      stdin.value = shared.stdin ?? "";
      taken();
    });
  }, [hash]);
}
