import { useEffect, useState } from "preact/hooks";

import { Icon } from "../ui/icon";
import { Dialog } from "./dialog";
import { asked, findOut, signIn, signOut, who } from "./who";

/** Asks the visitor for a key, when the gateway does. */
export function SignIn() {
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    void findOut();
  }, []);
  if (!asked.value) return null;
  const show = async (key: string) => {
    setBusy(true);
    const problem = await signIn(key);
    setBusy(false);
    setWrong(problem);
    if (!problem) location.reload(); // what is on the page was asked for by nobody
  };
  return (
    <Dialog title="Sign in" onClose={() => (asked.value = false)}>
      <form
        class="body"
        style={{ padding: 0 }}
        onSubmit={(e) => {
          e.preventDefault();
          void show(String(new FormData(e.currentTarget).get("key")).trim());
        }}
      >
        <label class="field">
          Your key for this gateway
          <input class="input" name="key" type="password" autocomplete="current-password" autofocus required placeholder="sg_…" />
        </label>
        {wrong && (
          <p role="alert" style={{ color: "var(--bad)" }}>
            {wrong}
          </p>
        )}
        <div class="actions">
          <button class="button primary" disabled={busy}>
            Sign in
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Says who is signed in; nothing where nobody is asked. */
export function Owner() {
  if (!who.value?.key) return null;
  return (
    <p class="owner" title={who.value.owner}>
      <span class="visually-hidden">Signed in as </span>
      {who.value.owner}
    </p>
  );
}

/** The way out of a session; nothing where nobody is asked. */
export function SignedIn() {
  if (!who.value?.key) return null;
  const label = `Sign out ${who.value.owner}`;
  const leave = async () => {
    await signOut();
    location.reload();
  };
  return (
    <button class="button icon plain" aria-label={label} title={label} onClick={leave}>
      <Icon name="leave" size={18} />
    </button>
  );
}
