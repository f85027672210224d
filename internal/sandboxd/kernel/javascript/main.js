// The JavaScript kernel: takes requests and answers them, one cell after the
// other, as doc.go describes.
//
// Cells are evaluated by V8 itself in its REPL mode, which is reached through
// the inspector: const and let persist and may be declared again, and await
// stands at the top level. Around that, vm lets SIGINT end a cell that computes
// without a pause; one that waits is ended by the signal's handler.
"use strict";

const fs = require("node:fs");
const inspector = require("node:inspector");
const { createRequire } = require("node:module");
const path = require("node:path");
const readline = require("node:readline");
const util = require("node:util");
const vm = require("node:vm");

const REQUESTS_FD = 3;
const REPLIES_FD = 4;
const MAX_JSON = 4 << 20;
const MAX_TEXT = 1 << 20;

// What the forms of one result may take in a frame. A longer frame would be
// sandboxd's reason to end the kernel.
const MAX_RESULT = 16 << 20;

// What is told of one exception. sandboxd would pass on no more of it.
const MAX_NAME = 256;
const MAX_MESSAGE = 64 << 10;
const MAX_TRACEBACK = 256 << 10;
const MAX_LINES_TOLD = 1000;
const MAX_FRAMES = 50; // of a stack
const MIME = {
  "text/plain": "text", "text/html": "html", "image/png": "png", "image/jpeg": "jpeg", "image/svg+xml": "svg",
  "application/json": "json", "text/latex": "latex", "text/markdown": "markdown", "application/javascript": "javascript",
};

const session = new inspector.Session();
session.connect();

// Where evaluated code finds us, and hands its values over.
const EVALUATE = Symbol.for("sandgate.evaluate");
const TAKE = Symbol.for("sandgate.take");
const inside = new vm.Script(`globalThis[Symbol.for("sandgate.evaluate")]()`, { filename: "sandgate" });
const handOver = `function (value) { this[Symbol.for("sandgate.take")](value); }`;

let cell = 0; // the one that runs, or ran last
let interrupt = null; // ends the cell that waits

function send(type, fields) {
  const frame = Buffer.from(JSON.stringify({ id: cell, pid: process.pid, type, ...fields }) + "\n");
  for (let sent = 0; sent < frame.length;) {
    try {
      sent += fs.writeSync(REPLIES_FD, frame, sent);
    } catch (err) {
      if (err.code !== "EAGAIN") throw err;
    }
  }
}

// evaluate runs a cell and gives what V8 says of it; it never fails. What V8
// says is known at once but for a cell that awaits.
function evaluate(code, name) {
  return new Promise((resolve) => {
    interrupt = () => resolve({ interrupted: true });
    const expression = `${code}\n//# sourceURL=${name}`;
    const options = { expression, replMode: true, awaitPromise: true, silent: true };
    globalThis[EVALUATE] = () =>
      session.post("Runtime.evaluate", options, (err, said) => resolve(err ? { failed: err } : said));
    try {
      inside.runInThisContext({ breakOnSigint: true });
    } catch (err) {
      resolve({ interrupted: err.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED", thrown: err });
    }
  });
}

// valueOf gives the value itself that a remote object stands for.
function valueOf(remote) {
  let value;
  globalThis[TAKE] = (taken) => { value = taken; };
  const argument = remote.objectId !== undefined ? { objectId: remote.objectId }
    : remote.unserializableValue !== undefined ? { unserializableValue: remote.unserializableValue }
    : { value: remote.value };
  session.post("Runtime.evaluate", { expression: "globalThis" }, (_, global) => {
    session.post("Runtime.callFunctionOn", {
      objectId: global.result.objectId,
      functionDeclaration: handOver,
      arguments: [argument],
    });
    session.post("Runtime.releaseObject", { objectId: global.result.objectId });
  });
  if (remote.objectId !== undefined) session.post("Runtime.releaseObject", { objectId: remote.objectId });
  return value;
}

function show(value) {
  const result = { text: inspect(value) };
  if (value !== null && typeof value === "object") {
    const json = asJSON(value);
    if (json !== undefined) result.json = json;
  }
  sendResult(result);
}

// display shows a value, or an object of MIME types as { "text/html": "…" }.
function display(value) {
  const forms = value !== null && typeof value === "object" ? Object.entries(value) : [];
  const isBundle = forms.length > 0 &&
    forms.every(([type, data]) => Object.hasOwn(MIME, type) && typeof data === "string");
  if (!isBundle) return show(value);
  const result = { text: "" };
  for (const [type, data] of forms) result[MIME[type]] = data;
  if (!result.text) result.text = inspect(value);
  sendResult(result);
}

// sendResult leaves out what is too large, and says so. There is always room
// for the text.
function sendResult({ text, ...forms }) {
  const result = { text: text.slice(0, MAX_TEXT) };
  const dropped = text.length > MAX_TEXT ? ["text"] : [];
  let room = MAX_RESULT - encodedSize(result.text);
  for (const [name, data] of Object.entries(forms)) {
    const size = encodedSize(data);
    if (size > room) {
      dropped.push(name);
      continue;
    }
    result[name] = data;
    room -= size;
  }
  send("result", { result, dropped });
}

function encodedSize(text) {
  return text.length > MAX_RESULT ? Infinity : Buffer.byteLength(JSON.stringify(text));
}

function inspect(value) {
  try {
    return util.inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 10000, breakLength: 100 });
  } catch {
    return `[${typeof value} that cannot be inspected]`;
  }
}

// asJSON gives nothing for what JSON cannot say: cycles, BigInt, functions.
function asJSON(value) {
  try {
    const json = JSON.stringify(value);
    return json !== undefined && json.length <= MAX_JSON ? json : undefined;
  } catch {
    return undefined;
  }
}

// describe tells an exception, with the user's frames only. Whatever it does
// when it is looked at, there is an answer, and it has an end.
function describe(thrown, said, name) {
  try {
    return boundedError(look(thrown, said, name));
  } catch {
    const message = "this error cannot be told: looking at it fails as well";
    return { name: "Error", message, traceback: [`Error: ${message}`] };
  }
}

// boundedError also breaks the lines of a traceback up.
function boundedError(error) {
  const text = error.traceback.join("\n").slice(0, MAX_TRACEBACK);
  return {
    ...error, name: error.name.slice(0, MAX_NAME), message: error.message.slice(0, MAX_MESSAGE),
    traceback: text.split("\n").slice(0, MAX_LINES_TOLD),
  };
}

function look(thrown, said, name) {
  const lineNumber = lineOf(thrown, said, name);
  if (!(util.types.isNativeError(thrown) || thrown instanceof Error)) {
    const text = inspect(thrown);
    return { name: "Uncaught", message: text, traceback: [`Uncaught ${text}`], lineNumber };
  }
  const head = headOf(thrown);
  const stack = String(thrown.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line) && isUsers(line));
  return {
    name: String(thrown.name), message: hint(String(thrown.message)),
    traceback: [hint(head), ...stack.slice(0, MAX_FRAMES)], lineNumber,
  };
}

function headOf(err) {
  return err.message ? `${err.name}: ${err.message}` : String(err.name);
}

function isUsers(line) {
  return !/node:|sandgate|Session\.post|[/]run[/]kernels[/]/.test(line);
}

function hint(text) {
  return text.includes("dynamic import callback") ? "import() does not work in a cell: use require()" : text;
}

function lineOf(thrown, said, name) {
  const at = String(thrown?.stack ?? "").split("\n").find((line) => line.includes(`${name}:`));
  const found = at && /:(\d+):\d+\)?$/.exec(at);
  const line = found ? Number(found[1]) : (said?.lineNumber ?? -1) + 1;
  return Number.isSafeInteger(line) && line > 0 ? line : undefined;
}

async function answer(request) {
  cell = request.id;
  const name = `cell-${cell}.js`;
  const said = await evaluate(request.code, name);
  interrupt = null;
  if (said.interrupted) {
    send("interrupted", {});
    return { interrupted: true, error: { name: "Interrupted", message: "interrupted", traceback: [] } };
  }
  if (said.thrown || said.failed) {
    const err = said.thrown ?? said.failed;
    return { error: boundedError({ name: String(err.name ?? "Error"), message: String(err.message), traceback: [String(err.message)] }) };
  }
  if (said.exceptionDetails) {
    const remote = said.exceptionDetails.exception;
    return { error: describe(remote && valueOf(remote), said.exceptionDetails, name) };
  }
  const value = valueOf(said.result);
  if (value !== undefined) show(value);
  return {};
}

// withStdin puts a cell's input at descriptor 0 and takes it away again.
async function withStdin(request, run) {
  if (!request.stdin) return run();
  const file = path.join(fs.mkdtempSync("/tmp/.stdin-"), "0");
  fs.writeFileSync(file, Buffer.from(request.stdin, "base64"));
  replaceStdin(file);
  try {
    return await run();
  } finally {
    replaceStdin("/dev/null");
    fs.rmSync(path.dirname(file), { recursive: true, force: true });
  }
}

// replaceStdin opens a file as descriptor 0, the lowest that is free.
function replaceStdin(file) {
  try {
    fs.closeSync(0);
  } catch { /* the cell has closed it */ }
  fs.openSync(file, "r");
}

function tell(err) {
  const error = describe(err, undefined, "cell-");
  fs.writeSync(2, error.traceback.join("\n") + "\n");
}

function serve() {
  const require = createRequire(path.join(process.cwd(), "cell.js"));
  Object.assign(globalThis, { require, display });
  process.on("SIGINT", () => interrupt?.());
  // What fails between cells, in a timer say, is told and ends nothing.
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);

  const lines = readline.createInterface({ input: fs.createReadStream(null, { fd: REQUESTS_FD, autoClose: false }) });
  lines.on("line", async (line) => {
    const request = JSON.parse(line);
    // A cell has its end even when its value cannot be told.
    const outcome = await withStdin(request, () => answer(request))
      .catch((err) => ({ error: describe(err, undefined, "cell-") }));
    send("done", outcome);
  });
  lines.on("close", () => process.exit(0));
  send("ready", { engine: `node ${process.versions.node}` });
}

serve();
