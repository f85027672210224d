// A link that carries the code in the part after #, which no server is sent.

export interface Shared {
  language: string;
  code: string;
  stdin?: string;
}

const most = 64 << 10; // characters of a link

export async function pack(shared: Shared): Promise<string | undefined> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const b of bytes) text += String.fromCharCode(b);
  const hash = "1" + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return hash.length > most ? undefined : hash;
}

/** What a link carries; undefined when it carries nothing that we understand. */
export async function unpack(hash: string): Promise<Shared | undefined> {
  if (!/^1[\w-]+$/.test(hash) || hash.length > most) return undefined;
  try {
    const text = atob(hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
    if (typeof found.code !== "string" || typeof found.language !== "string") return undefined;
    return { language: found.language, code: found.code, stdin: typeof found.stdin === "string" ? found.stdin : undefined };
  } catch {
    return undefined;
  }
}

async function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
