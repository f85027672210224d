import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import icon from "../icon.svg";
import { Icon, type IconName } from "../ui/icon";
import { Questions } from "./dialog";
import { Help, helpOpen } from "./help";
import { useShortcuts } from "./keys";
import { Notices } from "./notices";
import { Offline } from "./online";
import { go, href, place } from "./router";
import { Owner, SignedIn, SignIn } from "./signin";
import { dark, toggleTheme } from "./theme";

const apps: { path: string; name: string; icon: IconName; key: string }[] = [
  { path: "run", name: "Run", icon: "run", key: "r" },
  { path: "notebooks", name: "Notebooks", icon: "notebook", key: "n" },
  { path: "files", name: "Files", icon: "files", key: "f" },
  { path: "tests", name: "Tests", icon: "tests", key: "t" },
  { path: "search", name: "Search", icon: "search", key: "s" },
];

/** What is around every page. */
export function Shell({ children }: { children: ComponentChildren }) {
  useShortcuts([
    ...apps.map((a) => ({ keys: `g ${a.key}`, does: `Go to ${a.name}`, run: () => go(href(a.path)) })),
    { keys: "g b", does: "Go to Sandboxes", run: () => go(href("sandboxes")) },
    { keys: "?", does: "Show this help", run: () => (helpOpen.value = true) },
  ]);
  return (
    <div class="shell">
      <a class="button skip" href="#main">
        Skip to the page
      </a>
      <Rail />
      <div class="page">
        <Offline />
        {children}
      </div>
      <Notices />
      <Questions />
      <Help />
      <SignIn />
    </div>
  );
}

function Rail() {
  return (
    <nav class="rail" aria-label="Sandgate">
      <a class="brand" href={href("run")}>
        <img src={icon} alt="" /> Sandgate
      </a>
      <div class="apps">
        {apps.map((a) => (
          <Link key={a.path} path={a.path} name={a.name} icon={a.icon} />
        ))}
      </div>
      <div class="foot">
        <Link path="sandboxes" name="Sandboxes" icon="sandboxes" />
        <Link path="about" name="This gateway" icon="about" />
        <Owner />
        <div class="row">
          <button class="button icon plain" aria-label="Keyboard shortcuts" title="Keyboard shortcuts" onClick={() => (helpOpen.value = true)}>
            <Icon name="keyboard" size={18} />
          </button>
          <ThemeSwitch />
          <SignedIn />
        </div>
      </div>
    </nav>
  );
}

function ThemeSwitch() {
  const label = dark.value ? "Use light colours" : "Use dark colours";
  return (
    <button class="button icon plain" aria-label={label} title={label} onClick={toggleTheme}>
      <Icon name={dark.value ? "sun" : "moon"} size={18} />
    </button>
  );
}

function Link(props: { path: string; name: string; icon: IconName }) {
  const here = place.value.path.split("/")[0] === props.path;
  return (
    <a class="link" href={href(props.path)} aria-current={here ? "page" : undefined}>
      <Icon name={props.icon} size={18} /> {props.name}
    </a>
  );
}

/** A page: its title, what stands beside it, and what it is about. */
export function Page(props: { title: string; tools?: ComponentChildren; children: ComponentChildren; class?: string }) {
  useEffect(() => {
    document.title = `${props.title} · Sandgate`;
  }, [props.title]);
  return (
    <>
      <header>
        <h1>{props.title}</h1>
        {props.tools}
        <div class="narrow-only corner">
          <a class="button icon plain" href={href("sandboxes")} aria-label="Sandboxes">
            <Icon name="sandboxes" size={18} />
          </a>
          <a class="button icon plain" href={href("about")} aria-label="This gateway">
            <Icon name="about" size={18} />
          </a>
          <ThemeSwitch />
          <SignedIn />
        </div>
      </header>
      <main id="main" class={props.class} tabIndex={-1}>
        {props.children}
      </main>
    </>
  );
}
