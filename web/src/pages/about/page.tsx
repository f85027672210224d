import "./about.css";

import { useEffect, useState } from "preact/hooks";

import { ApiError, requestJSON } from "../../api/http";
import { Page } from "../../frame/shell";

interface Capabilities {
  version: string;
  isolation: { proven: boolean; checks: { name: string; proven: boolean; found: string }[] };
  engine: { driver: string; runtime: string; runtimeVersion: string; hostKernel: string; network: string; hibernation: boolean };
  limits: { name: string; value: number; unit: string; enforced: boolean; by: string }[];
  languages: { name: string; available: boolean; version: string; engine: string }[];
  warnings: (string | { message: string })[] | null;
}

/** What this gateway can do, and what it holds. */
export default function AboutPage() {
  const [known, setKnown] = useState<Capabilities>();
  const [failed, setFailed] = useState<ApiError>();
  useEffect(() => {
    requestJSON<Capabilities>("/v1/capabilities").then(setKnown, setFailed);
  }, []);
  return (
    <Page title="This gateway" class="about">
      {failed && <p class="note bad">{failed.message}</p>}
      {known && <Known known={known} />}
    </Page>
  );
}

function Known({ known: k }: { known: Capabilities }) {
  return (
    <>
      <section>
        <h2>Isolation</h2>
        <p>
          <span class={k.isolation.proven ? "badge good" : "badge bad"}>{k.isolation.proven ? "shown at the start" : "not shown"}</span>{" "}
          {k.engine.runtime} {k.engine.runtimeVersion}, on {k.engine.hostKernel}. Version {k.version} of Sandgate.
        </p>
        {k.warnings?.map((w) => (
          <p class="note warn">{typeof w === "string" ? w : w.message}</p>
        ))}
        <Table
          head={["What", "", "Found"]}
          rows={k.isolation.checks.map((c) => [c.name, <Held held={c.proven} />, <span class="mono">{c.found}</span>])}
        />
      </section>
      <section>
        <h2>Languages</h2>
        <Table
          head={["Language", "Version", "Run by"]}
          rows={k.languages.map((l) => [l.name, l.available ? l.version : "not there", l.engine])}
        />
      </section>
      <section>
        <h2>Limits of one sandbox</h2>
        <Table
          head={["Limit", "Value", "", "Held by"]}
          rows={k.limits.map((l) => [words(l.name), value(l.value, l.unit), <Held held={l.enforced} />, l.by])}
        />
      </section>
    </>
  );
}

function Held({ held }: { held: boolean }) {
  return <span class={held ? "badge good" : "badge warn"}>{held ? "holds" : "does not hold"}</span>;
}

function Table({ head, rows }: { head: string[]; rows: preact.ComponentChildren[][] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={head[0]}>
      <table>
        <thead>
          <tr>
            {head.map((h) => (
              <th scope="col">{h || <span class="visually-hidden">holds</span>}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr>
              {r.map((c) => (
                <td>{c}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** "workspaceDisk" as people write it. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);
}

function value(n: number, unit: string): string {
  if (!unit.startsWith("bytes")) return `${n.toLocaleString("en")} ${unit}`;
  const names = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < names.length - 1; i++) n /= 1024;
  return `${Number(n.toFixed(1))} ${names[i]}${unit.slice("bytes".length)}`;
}
