/**
 * Chromium without a window, controlled through its debugging protocol.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { createDeadline, withDeadline } from "../deadline.ts";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** Path of Chromium; `undefined` if it is not installed. */
export const chromium: string | undefined = findProgram();

function findProgram(): string | undefined {
  const directories = (Deno.env.get("PATH") ?? "").split(":");
  const paths = directories.flatMap((directory) => PROGRAMS.map((name) => `${directory}/${name}`));
  return paths.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** A page in a browser. Disposing of it ends the browser. */
export class Page implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  /** Resolves when the last process of the browser has ended, and with it the messages. */
  readonly #messages: Promise<void>;
  readonly #answers = new Map<number, (answer: Record<string, unknown>) => void>();
  /** Methods of the events so far. */
  readonly events: string[] = [];
  #lastId = 0;

  private constructor(
    { child, profile, socket, messages }: {
      readonly child: Deno.ChildProcess;
      readonly profile: string;
      readonly socket: WebSocket;
      readonly messages: Promise<void>;
    },
  ) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    this.#messages = messages;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.id === undefined) this.events.push(message.method);
      this.#answers.get(message.id)?.(message);
    };
  }

  /** Opens a URL in a new browser with an empty profile, and waits until it is loaded. */
  static async open(url: string): Promise<Page> {
    const profile = Deno.makeTempDirSync({ prefix: "swink_chromium_" });
    const child = new Deno.Command(chromium ?? "chromium", {
      args: [
        ...["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
        // Chromium does not run as root with its sandbox.
        ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
        ...["--remote-debugging-port=0", "--window-size=1100,1400"],
        ...[`--user-data-dir=${profile}`, "about:blank"],
      ],
      detached: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      signal: createDeadline(),
    }).spawn();
    const { address, messages } = await readAddress(child);
    const socket = new WebSocket(await findPage(address));
    await withDeadline(new Promise((resolve) => socket.onopen = resolve));
    const page = new Page({ child, profile, socket, messages });
    await page.send("Page.enable");
    await page.send("Network.enable");
    await page.send("Page.navigate", { url });
    await page.evaluate(
      "new Promise((resolve) => { const check = () => document.readyState === 'complete' && location.href !== 'about:blank' ? resolve(true) : setTimeout(check, 10); check(); })",
    );
    return page;
  }

  /** Calls a method of the protocol. */
  async send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
    this.#answers.set(id, resolve);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await withDeadline(promise);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as Record<string, unknown>;
  }

  /** Evaluates an expression in the page, and waits for its promise. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value?: unknown }).value;
  }

  /** Clicks with the mouse on the first element that a selector matches. */
  async click(selector: string): Promise<void> {
    const point = await this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: "center" });
      const { left, top, width, height } = element.getBoundingClientRect();
      return { x: left + Math.min(width / 2, 60), y: top + height / 2 };
    })()`) as { readonly x: number; readonly y: number };
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.send("Input.dispatchMouseEvent", {
        type,
        ...point,
        button: "left",
        clickCount: 1,
      });
    }
  }

  /** Takes a picture of the page. */
  async takeScreenshot(): Promise<Uint8Array> {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true });
    return Uint8Array.from(atob(String(data)), (character) => character.charCodeAt(0));
  }

  /** Ends the browser. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.onclose = resolve);
    Deno.kill(-this.#child.pid, "SIGKILL");
    await this.#child.status;
    await withDeadline(closed);
    await withDeadline(this.#messages);
    // The last process that writes to the profile ends later.
    const removed = () =>
      Deno.remove(this.#profile, { recursive: true }).then(() => true, () => false);
    while (!await removed());
  }
}

/** Reads the address of the debugging protocol, and the rest of the messages in the background. */
async function readAddress(
  child: Deno.ChildProcess,
): Promise<{ readonly address: string; readonly messages: Promise<void> }> {
  const lines = child.stderr.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  const reader = lines.getReader();
  for (;;) {
    const { done, value = "" } = await withDeadline(reader.read());
    if (done) throw new Error("Chromium ended");
    const [, address] = /^DevTools listening on ws:\/\/([^/]+)/.exec(value) ?? [];
    if (address === undefined) continue;
    const readRest = async () => {
      while (!(await reader.read()).done);
    };
    return { address, messages: readRest() };
  }
}

async function findPage(address: string): Promise<string> {
  const targets = await (await fetch(`http://${address}/json/list`)).json();
  return targets.find(({ type }: { type: string }) => type === "page").webSocketDebuggerUrl;
}
