// Where a notebook is shown: at /app/notebooks/NAME.

import { href, type Place } from "../../frame/router";

// Browsers and the gateway would follow such a name to another place.
const dots = /(^|\/)\.\.?(\/|$)/;

/** The address of a notebook, whatever its name. */
export function notebookPage(name: string): string {
  if (dots.test(name)) return href("notebooks", { name });
  return `${href("notebooks")}/${encodeURIComponent(name)}`;
}

/** The name of the notebook at a place, of which rest follows notebooks/. */
export function notebookAt(rest: string, { query }: Pick<Place, "query">): string {
  return rest || (query.get("name") ?? "");
}
