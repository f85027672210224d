import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../../api/http";
import { type Loaded, address, read, save } from "../../api/files";
import { Editor, type Instance } from "../../editor/editor";
import { languageOf } from "../../editor/names";
import { confirm } from "../../frame/dialog";
import { useShortcuts } from "../../frame/keys";
import { tell, tellError } from "../../frame/notices";
import { place } from "../../frame/router";
import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { removeAsked, rename } from "./actions";
import { drafts, setDraft } from "./drafts";
import { Image, Preview, previewOf } from "./preview";
import { bytes } from "./tree";

const mostShown = 2 << 20; // bytes of a text that are shown

interface Open extends Loaded {
  text?: string; // undefined: it is not text
}

/** One file: to read, to edit, to look at. */
export function FileView({ path }: { path: string }) {
  const [file, setFile] = useState<Open>();
  const [failed, setFailed] = useState<ApiError>();
  const [reading, setReading] = useState(0); // counts readings
  useEffect(() => {
    const abort = new AbortController();
    setFailed(undefined);
    open(path, abort.signal).then(setFile, (err) => abort.signal.aborted || setFailed(err));
    return () => abort.abort();
  }, [path, reading]);
  if (failed) {
    return (
      <p class="note bad">
        {failed.message}
        {failed.requestId && <small>request {failed.requestId}</small>}
      </p>
    );
  }
  if (!file) return null;
  return <Opened path={path} file={file} setFile={setFile} again={() => setReading(reading + 1)} />;
}

async function open(path: string, signal: AbortSignal): Promise<Open> {
  const loaded = await read(path, mostShown, signal);
  return { ...loaded, text: await textOf(loaded) };
}

/** The text of what was read; a rune that the cut went through is left out. */
async function textOf(loaded: Loaded): Promise<string | undefined> {
  const data = new Uint8Array(await loaded.bytes.arrayBuffer());
  if (data.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data, { stream: loaded.cut });
  } catch {
    return undefined;
  }
}

function Opened(props: { path: string; file: Open; setFile: (f: Open) => void; again: () => void }) {
  const { path, file } = props;
  const kind = previewOf(path);
  const [preview, setPreview] = useState(kind === "markdown" || kind === "csv");
  const editor = useRef<Instance>();
  const draft = drafts.value[path];
  const text = draft?.text ?? file.text;
  const editable = file.text !== undefined && !file.cut;
  const store = () => void saveDraft(path, file, props);
  useShortcuts([{ keys: "Mod+s", does: "Save the file", run: store, inText: true }, { keys: "Escape Tab", does: "Leave the editor" }]);
  useLine(editor, file);
  const image = file.type.startsWith("image/");
  return (
    <div class="file">
      <div class="file-head">
        <span class="faint">{bytes(file.size)}</span>
        {draft && <span class="badge warn">not saved</span>}
        {draft && (
          <button class="button small primary" onClick={store}>
            Save
          </button>
        )}
        {draft && (
          <button class="button small" onClick={() => (setDraft(path, undefined), props.again())}>
            Discard
          </button>
        )}
        <span class="gap" />
        {kind && editable && (
          <button class="button small" aria-pressed={preview} onClick={() => setPreview(!preview)}>
            Preview
          </button>
        )}
        <a class="button small" href={address(path, true)} download>
          <Icon name="download" /> Download
        </a>
        <button class="button small" onClick={() => void rename(path)}>
          <Icon name="edit" /> Rename
        </button>
        <button class="button small danger" onClick={() => void removeAsked(path, false)}>
          <Icon name="trash" /> Delete
        </button>
      </div>
      {file.cut && file.text !== undefined && <p class="note">The first {bytes(mostShown)} are shown, to read only. Download the file for the rest.</p>}
      {image ? (
        <Image path={path} etag={file.etag} />
      ) : text === undefined ? (
        <p class="note">This file is not text. It can be downloaded.</p>
      ) : preview && editable ? (
        <div class="preview card">
          <Preview kind={kind} text={text} />
        </div>
      ) : (
        <Editor
          class="card"
          key={path + file.cut}
          label={`Text of ${visible(path)}`}
          language={languageOf(path)}
          value={text}
          readOnly={!editable}
          onChange={(v) => editable && setDraft(path, v === file.text ? undefined : { text: v, etag: drafts.value[path] ? drafts.value[path].etag : file.etag })}
          onReady={(e) => {
            editor.current = e;
            const line = lineOf(place.value.hash);
            if (line) e?.goTo(line);
          }}
          keys={[{ key: "Mod-s", run: store }]}
        />
      )}
    </div>
  );
}

/** Shows the line that the address names. */
function useLine(editor: { current: Instance | undefined }, file: Open) {
  const line = lineOf(place.value.hash);
  useEffect(() => {
    if (line) editor.current?.goTo(line);
  }, [line, file]);
}

function lineOf(hash: string): number | undefined {
  return Number(/^L(\d+)/.exec(hash)?.[1]) || undefined;
}

/** Saves what was typed, unless somebody else was faster: then asks. */
async function saveDraft(path: string, file: Open, to: { setFile: (f: Open) => void; again: () => void }): Promise<void> {
  const draft = drafts.value[path];
  if (!draft) return;
  const stored = (etag?: string) => {
    if (drafts.value[path]?.text === draft.text) setDraft(path, undefined);
    else setDraft(path, { text: drafts.value[path]!.text, etag });
    to.setFile({ ...file, text: draft.text, etag, size: new Blob([draft.text]).size });
    tell(`${visible(path)} was saved`);
  };
  try {
    stored(await save(path, draft.text, { etag: draft.etag }));
  } catch (err) {
    if (!(err instanceof ApiError) || err.status !== 412) return tellError(`${visible(path)} could not be saved`, err);
    await settle(path, draft.text, stored);
  }
}

async function settle(path: string, text: string, stored: (etag?: string) => void): Promise<void> {
  const overwrite = await confirm("The file has changed", "Somebody, or a program, has written to it since you opened it. Overwriting loses what they wrote; cancel keeps your text here, not saved.", "Overwrite");
  if (!overwrite) return;
  try {
    stored(await save(path, text, { anyway: true }));
  } catch (err) {
    tellError(`${visible(path)} could not be saved`, err);
  }
}
