// A git server on loopback, with repositories made of files.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export class GitServer {
  private readonly dir = mkdtempSync(join(tmpdir(), "sggit"));
  private readonly server: Server;
  host = "";

  constructor() {
    this.server = createServer((request, response) => {
      const [path = "/", query = ""] = request.url!.split("?");
      const backend = spawn("git", ["http-backend"], {
        env: {
          PATH: process.env.PATH,
          GIT_PROJECT_ROOT: this.dir,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: path,
          QUERY_STRING: query,
          REQUEST_METHOD: request.method,
          CONTENT_TYPE: request.headers["content-type"] ?? "",
          GIT_PROTOCOL: (request.headers["git-protocol"] as string) ?? "",
          HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        },
        stdio: ["pipe", "pipe", "ignore"],
      });
      request.pipe(backend.stdin);
      const chunks: Buffer[] = [];
      backend.stdout.on("data", (c) => chunks.push(c));
      backend.on("close", () => {
        const all = Buffer.concat(chunks);
        const end = all.indexOf("\r\n\r\n");
        let status = 200;
        for (const line of all.subarray(0, end).toString("latin1").split("\r\n")) {
          const [name = "", value = ""] = line.split(": ");
          if (name === "Status") status = Number.parseInt(value);
          else if (name) response.setHeader(name, value);
        }
        response.writeHead(status).end(all.subarray(end + 4));
      });
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    const { port } = this.server.address() as { port: number };
    this.host = `127.0.0.1:${port}`;
  }

  /** Makes a repository and gives its address. */
  add(name: string, files: Record<string, string>): string {
    const tree = join(this.dir, `${name}.work`);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main", ...args], { cwd: tree, stdio: "ignore" });
    git("init");
    git("add", ".");
    git("commit", "-m", "All of it");
    git("clone", "--bare", ".", join(this.dir, `${name}.git`));
    return `http://${this.host}/${name}.git`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
