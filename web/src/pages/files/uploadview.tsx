import { visible } from "../../output/visible";
import { Icon } from "../../ui/icon";
import { bytes } from "./tree";
import { dismissFailed, uploads } from "./uploads";

export function UploadsView() {
  const all = uploads.value;
  if (all.length === 0) return null;
  const failed = all.some((u) => u.state === "failed");
  return (
    <section class="uploads card" aria-label="Uploads">
      {all.slice(0, 8).map((u) => (
        <div class="upload" key={u.id}>
          <span class="name">{visible(u.path)}</span>
          {u.state === "failed" || u.state === "stopped" ? (
            <span class={u.state === "failed" ? "badge bad" : "badge"}>{u.message ?? "stopped"}</span>
          ) : (
            <>
              <progress max={u.size || 1} value={u.sent} aria-label={`Upload of ${visible(u.path)}`} />
              <span class="faint">{bytes(u.size)}</span>
              <button class="button small icon plain" aria-label={`Stop ${visible(u.path)}`} onClick={u.stop}>
                <Icon name="close" />
              </button>
            </>
          )}
        </div>
      ))}
      {all.length > 8 && <p class="faint">and {all.length - 8} more</p>}
      {failed && (
        <button class="button small" onClick={dismissFailed}>
          Dismiss what failed
        </button>
      )}
    </section>
  );
}
