import { startStream, type Stream } from "./events";
import { request, type Query } from "./http";

export const languages = [
  { name: "python", label: "Python" },
  { name: "javascript", label: "JavaScript" },
  { name: "bash", label: "Bash" },
];

export interface Code {
  code: string;
  stdin?: string;
}

/** Runs code at /run or /notebook and follows it to its end. */
export function runCode(path: string, query: Query, { code, stdin }: Code, stream: Stream): Promise<void> {
  let body: BodyInit = code;
  if (stdin) {
    body = new FormData();
    body.set("code", code);
    body.set("stdin", stdin);
  }
  return startStream(path, { query, body, headers: stdin ? {} : { "Content-Type": "text/plain" } }, stream);
}

/** Ends an execution with everything it started. */
export async function cancel(location: string): Promise<void> {
  await request(location, { method: "DELETE" });
}
