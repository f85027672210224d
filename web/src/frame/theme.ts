import { computed, effect, signal } from "@preact/signals";

import { remember, remembered } from "./memory";

export type Theme = "system" | "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", (e) => (systemDark.value = e.matches));

/** What the visitor chose. */
export const theme = signal<Theme>(remembered<Theme>("theme") ?? "system");

export const dark = computed(() => (theme.value === "system" ? systemDark.value : theme.value === "dark"));

effect(() => {
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
  remember("theme", theme.value);
});

export function toggleTheme(): void {
  theme.value = dark.value ? "light" : "dark";
}
