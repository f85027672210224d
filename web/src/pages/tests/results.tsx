import type { TestResults } from "../../api/types";
import { duration } from "../../output/output";

/** What the tests said, failures first. */
export function Results({ results: r, disagree }: { results: TestResults; disagree?: boolean }) {
  return (
    <section class="results card" aria-label="Results">
      <div class="counts">
        {r.failed > 0 && <Count n={r.failed} word="failed" look="bad" />}
        <Count n={r.passed} word="passed" look={r.passed ? "good" : ""} />
        {r.failed === 0 && <Count n={0} word="failed" look="" />}
        {r.skipped > 0 && <Count n={r.skipped} word="skipped" look="" />}
        {r.todo > 0 && <Count n={r.todo} word="to do" look="" />}
        <span class="faint">
          {r.total} {r.total === 1 ? "test" : "tests"} by {r.framework}
          {r.durationMs ? `, ${duration(r.durationMs)}` : ""}
        </span>
      </div>
      <Bar results={r} />
      {disagree && (
        <p class="note warn">The exit code and the results contradict each other: do not take this run for a success.</p>
      )}
      {r.failures?.map((f) => (
        <details class="failure" open={r.failures.length <= 5}>
          <summary>
            <span class="name">{f.name}</span>
            {f.file && (
              <span class="faint mono">
                {f.file}
                {f.line ? `:${f.line}` : ""}
              </span>
            )}
          </summary>
          {f.message && <pre class="traceback">{f.message}</pre>}
        </details>
      ))}
    </section>
  );
}

function Count({ n, word, look }: { n: number; word: string; look: string }) {
  return (
    <span class={`count ${look}`}>
      <strong>{n}</strong> {word}
    </span>
  );
}

function Bar({ results: r }: { results: TestResults }) {
  const total = Math.max(r.passed + r.failed + r.skipped + r.todo, 1);
  const part = (n: number, look: string) => n > 0 && <span class={look} style={{ flexGrow: n / total }} />;
  return (
    <div class="bar" aria-hidden="true">
      {part(r.failed, "bad")}
      {part(r.passed, "good")}
      {part(r.skipped + r.todo, "rest")}
    </div>
  );
}
