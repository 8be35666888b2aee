/**
 * A page in Chromium that tests read, by the protocol of its developer tools.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { createDeadline, withDeadline } from "../deadline.ts";

/** A page of a browser with an empty profile. */
export class ChromiumPage implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #results = new Map<number, (value: unknown) => void>();
  #calls = 0;

  private constructor(child: Deno.ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(data);
      this.#results.get(id)?.(result?.result?.value);
    });
  }

  /** Starts the browser and opens an address. */
  static async open(program: string, url: string): Promise<ChromiumPage> {
    const profile = await Deno.makeTempDir({ prefix: "swink_chromium_" });
    const child = new Deno.Command(program, {
      args: [
        ...["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
        // Chromium does not run as root with its sandbox.
        ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
        ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, url],
      ],
      detached: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      signal: createDeadline(),
    }).spawn();
    const socket = new WebSocket(await findPage(child.stderr));
    await withDeadline(new Promise((resolve) => socket.addEventListener("open", resolve)));
    return new ChromiumPage(child, profile, socket);
  }

  /** Evaluates an expression in the page. */
  async evaluate(expression: string): Promise<unknown> {
    const id = ++this.#calls;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#results.set(id, resolve);
    const params = { expression, returnByValue: true };
    this.#socket.send(JSON.stringify({ id, method: "Runtime.evaluate", params }));
    return await withDeadline(promise);
  }

  /** Waits until an expression is true in the page. */
  async waitFor(expression: string): Promise<void> {
    const deadline = createDeadline();
    while (await this.evaluate(expression) !== true) {
      deadline.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.addEventListener("close", resolve));
    Deno.kill(-this.#child.pid, "SIGKILL");
    await this.#child.status;
    await withDeadline(closed);
    await withDeadline(removeProfile(this.#profile));
  }
}

/** Removes a profile, as soon as the last process that writes to it has ended. */
async function removeProfile(profile: string): Promise<void> {
  while (!await Deno.remove(profile, { recursive: true }).then(() => true, () => false));
}

/** Returns the address of the developer tools of the page, from the line that the browser prints. */
async function findPage(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const lines = output.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  for await (const line of lines) {
    const [, host] = line.match(/DevTools listening on ws:\/\/([^/]+)\//) ?? [];
    if (host === undefined) continue;
    const targets: { type: string; webSocketDebuggerUrl: string }[] =
      await (await fetch(`http://${host}/json/list`)).json();
    const page = targets.find(({ type }) => type === "page");
    if (page) return page.webSocketDebuggerUrl;
  }
  throw new Error("The browser has no page");
}
