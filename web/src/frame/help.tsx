import { signal } from "@preact/signals";

import { Dialog } from "./dialog";
import { keyNames, shortcuts } from "./keys";

export const helpOpen = signal(false);

/** Every shortcut that works on this page. */
export function Help() {
  if (!helpOpen.value) return null;
  return (
    <Dialog title="Keyboard" onClose={() => (helpOpen.value = false)}>
      <dl class="shortcuts">
        {shortcuts.value.map((s) => (
          <>
            <dt>
              {keyNames(s.keys).map((k) => (
                <>
                  <kbd>{k}</kbd>{" "}
                </>
              ))}
            </dt>
            <dd>{s.does}</dd>
          </>
        ))}
      </dl>
      <div class="actions">
        <button class="button" onClick={() => (helpOpen.value = false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
