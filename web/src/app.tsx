import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { go, href, place } from "./frame/router";
import { Page, Shell } from "./frame/shell";

/** A page module's default export; rest is the path below the page's own. */
export type PageProps = { rest: string };
type Module = { default: ComponentType<PageProps> };

// Each page is loaded when it is first shown.
const pages: Record<string, () => Promise<Module>> = {
  run: () => import("./pages/run/page"),
  notebooks: () => import("./pages/notebooks/page"),
  files: () => import("./pages/files/page"),
  tests: () => import("./pages/tests/page"),
  search: () => import("./pages/search/page"),
  sandboxes: () => import("./pages/sandboxes/page"),
  about: () => import("./pages/about/page"),
};

export function App() {
  const [name = "", ...rest] = place.value.path.split("/");
  useEffect(() => {
    if (name === "") go(href("run"), true);
  }, [name]);
  return <Shell>{pages[name] ? <Loaded key={name} load={pages[name]} rest={rest.join("/")} /> : name && <Nowhere />}</Shell>;
}

function Loaded({ load, rest }: { load: () => Promise<Module>; rest: string }) {
  const [loaded, setLoaded] = useState<{ page?: ComponentType<PageProps>; failed?: boolean }>({});
  useEffect(() => {
    let gone = false;
    load().then(
      (m) => gone || setLoaded({ page: m.default }),
      () => gone || setLoaded({ failed: true }),
    );
    return () => {
      gone = true;
    };
  }, [load]);
  if (loaded.failed) return <Outdated />;
  return loaded.page ? <loaded.page rest={rest} /> : null;
}

function Outdated() {
  return (
    <Page title="This page is not there">
      <div class="empty">
        <h2>This page could not be loaded</h2>
        <p>The gateway was perhaps replaced by another version meanwhile.</p>
        <p>
          <button class="button primary" onClick={() => location.reload()}>
            Load it anew
          </button>
        </p>
      </div>
    </Page>
  );
}

function Nowhere() {
  return (
    <Page title="Nothing here">
      <div class="empty">
        <h2>There is no such page</h2>
        <p>
          <a href={href("run")}>Run some code</a>, or choose an app beside.
        </p>
      </div>
    </Page>
  );
}
