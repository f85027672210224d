// The gateway that the tests are about: the shipped binary on a state directory
// of its own.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const binary = join(import.meta.dirname, "../../bin/gateway");

export class Gateway {
  private readonly dir = mkdtempSync(join(tmpdir(), "sg"));
  private child?: ChildProcess;
  private log = "";
  url = "";

  constructor(private readonly args: string[]) {}

  /** Starts it, the second time at the same address and on the same state. */
  async start(): Promise<void> {
    if (!this.url) this.url = `http://127.0.0.1:${await freePort()}`;
    const listen = this.url.slice("http://".length);
    const args = ["--listen", listen, "--admin-listen", "127.0.0.1:0", "--state-dir", join(this.dir, "state"), ...this.args];
    const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.child = child;
    await new Promise<void>((ready, failed) => {
      child.stderr!.on("data", (data) => {
        this.log = (this.log + data).slice(-100_000);
        if (/msg=ready/.test(this.log.slice(-2000))) ready();
      });
      child.once("exit", (code) => failed(new Error(`the gateway ended with ${code}\n${this.log}`)));
    });
    child.removeAllListeners("exit");
  }

  /** Ends it in order, or without a warning. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
    this.log = "";
  }

  /** Makes a key for an owner, while it runs. */
  key(owner: string): string {
    return this.keys("create", "--owner", owner);
  }

  revoke(key: string): void {
    this.keys("revoke", key);
  }

  private keys(...args: string[]): string {
    const all = ["keys", "--state-dir", join(this.dir, "state"), ...args];
    return execFileSync(binary, all, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
