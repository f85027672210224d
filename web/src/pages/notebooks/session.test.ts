import { afterEach, beforeEach, expect, it, vi } from "vitest";

beforeEach(() => (vi.resetModules(), localStorage.clear()));
afterEach(() => vi.unstubAllGlobals());

const row = (name: string) => ({ app: "notebook", name, state: "running", createdAt: "", lastUsed: "", memoryBytes: 0, diskBytes: 0 });

/** Opens a notebook in front of a gateway that has others, in pages of one. */
async function opened(name: string, ...there: string[]) {
  vi.stubGlobal("fetch", async (url: string) => {
    const after = Number(new URL(url, location.href).searchParams.get("after"));
    return Response.json({ sandboxes: there.slice(after, after + 1).map(row), next: after + 1 < there.length ? after + 1 : undefined });
  });
  const { session } = await import("./session");
  const s = session(name);
  await vi.waitFor(() => expect(s.cells.value).not.toEqual([]));
  return s;
}

const code = (s: { cells: { value: { code: string }[] } }) => s.cells.value.map((c) => c.code).join();

it("shows examples in the very first notebook", async () => {
  const s = await opened("a", "another");
  expect(code(s)).toContain("x = 41");
  expect(s.elsewhere.value).toBe(false);
});

it("shows an empty cell where the gateway has the notebook already", async () => {
  const s = await opened("a", "another", "a");
  expect(code(s)).toBe("");
  expect(s.selected.value).toBe(s.cells.value[0]!.id);
  expect(s.elsewhere.value).toBe(true);
  s.leave();
  expect(Object.keys(localStorage)).toEqual([]);
});

it("shows an empty cell when the gateway does not say", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] }); // nobody is to ask again
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("refused")));
  const { session } = await import("./session");
  const s = session("a");
  vi.useRealTimers();
  await vi.waitFor(() => expect(s.cells.value).not.toEqual([]));
  expect(code(s)).toBe("");
});

it("shows the cells that are kept here", async () => {
  localStorage.setItem("sandgate.notebook.a", JSON.stringify({ name: "a", language: "bash", cells: [{ id: "1", code: "ls" }], changed: 1 }));
  const s = await opened("a", "a");
  expect(code(s)).toBe("ls");
  expect(s.language.value).toBe("bash");
  expect(s.elsewhere.value).toBe(false);
});
