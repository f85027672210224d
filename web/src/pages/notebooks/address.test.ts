import { expect, it } from "vitest";

import { go, place } from "../../frame/router";
import { notebookAt, notebookPage } from "./address";
import { nameProblem } from "./store";

it.each([
  "plain", "a b", "ünï/cödé", "/", "/a//b/", "a?b#c&d", "%2F", "100%", "..", ".", "a/../../frame", "...", "a\\b", " ", "+", "ü".repeat(128),
])("leads to the notebook %j", (name) => {
  expect(nameProblem(name)).toBeUndefined();
  go("/app/run");
  go(notebookPage(name));
  const [page, ...rest] = place.value.path.split("/");
  expect(page).toBe("notebooks");
  expect(notebookAt(rest.join("/"), place.value)).toBe(name);
});

it.each(["", "a\nb", "a\u0085b", "a".repeat(129)])("knows that %j is no name", (name) => expect(nameProblem(name)).toBeDefined());
