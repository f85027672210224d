import { address } from "../../api/files";
import { JsonTree } from "../../output/json";
import { Markdown } from "../../output/rich";
import { parseCSV } from "./csv";

const mostRows = 1000;
const mostColumns = 100;

export type Kind = "markdown" | "json" | "csv" | undefined;

/** The kind of preview that a file's name promises. */
export function previewOf(path: string): Kind {
  const extension = path.split(".").pop()!.toLowerCase();
  const kinds: Record<string, Kind> = { md: "markdown", markdown: "markdown", json: "json", ipynb: "json", csv: "csv", tsv: "csv" };
  return path.includes(".") ? kinds[extension] : undefined;
}

export function Preview({ kind, text }: { kind: Kind; text: string }) {
  switch (kind) {
    case "markdown":
      return <Markdown text={text} />;
    case "json":
      return <Json text={text} />;
    case "csv":
      return <Csv text={text} />;
  }
  return null;
}

function Json({ text }: { text: string }) {
  try {
    return <JsonTree value={JSON.parse(text)} />;
  } catch (err) {
    return <p class="note bad">This is not JSON: {(err as Error).message}</p>;
  }
}

function Csv({ text }: { text: string }) {
  const { rows, cut } = parseCSV(text, mostRows, mostColumns);
  const [head = [], ...body] = rows;
  return (
    <div class="csv" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((h) => (
              <th scope="col">{h}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((r) => (
            <tr>
              {r.map((v) => (
                <td>{v}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {cut && <p class="faint">The first {mostRows} rows and {mostColumns} columns are shown.</p>}
    </div>
  );
}

export function Image({ path, etag }: { path: string; etag?: string }) {
  return (
    <div class="image">
      <img key={etag} src={address(path)} alt={path} />
    </div>
  );
}
