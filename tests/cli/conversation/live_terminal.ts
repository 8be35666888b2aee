/**
 * Conversations on a terminal with a live region: keys in, screen and scrollback out.
 *
 * @module
 */

import { createAnthropicFrames, type ScriptedReply } from "../../../cli/demo/anthropic_frames.ts";
import type { Host, Input, Output } from "../../../cli/main.ts";
import { main } from "../../../cli/main.ts";
import { waitUntil } from "../../wait_until.ts";
import { createFakeHost } from "../fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "../temporary_directory.ts";
import { TerminalEmulator } from "../terminal_emulator.ts";

/** A reply of the model: complete, or one that the test continues. */
export type LiveReply = ScriptedReply | HeldReply;

/** A reply that stops before its end until `release()` is called. */
export interface HeldReply {
  readonly reply: ScriptedReply;
  /** Number of the frames at its end that are held back: 3 are those after the text. Default: 3. */
  readonly heldFrames?: number;
  /** Resolves when the rest may be sent. */
  readonly released: Promise<void>;
}

/** Options for `openTerminal()`. */
export interface LiveTerminalOptions {
  /** Replies of the model, one per request. */
  readonly model?: readonly LiveReply[];
  /** Arguments of the program. */
  readonly args?: readonly string[];
  /** Environment variables in addition to the key and the home directory, which replaces `HOME` in their values. */
  readonly env?: Readonly<Record<string, string>>;
  /** Name of the working directory in the home directory. Default: `p`. */
  readonly directory?: string;
  /** Files of the home directory. */
  readonly files?: Readonly<Record<string, string>>;
  /** The home directory of an earlier conversation. Default: a new one. */
  readonly home?: TemporaryDirectory;
  /** Columns of the terminal. Default: 80. */
  readonly columns?: number;
  /** Rows of the terminal. Default: 20. */
  readonly rows?: number;
  /** The clock of the program, in milliseconds. Default: that of the system. */
  readonly now?: () => number;
  /** Awaited after the start: the agent, the prompt, which is there before it, or nothing. Default: `agent`. */
  readonly awaits?: "agent" | "prompt" | "nothing";
}

/** The keys of a keyboard, as xterm sends them. */
export const KEYS = {
  enter: "\r",
  altEnter: "\x1b\r",
  escape: "\x1b",
  tab: "\t",
  shiftTab: "\x1b[Z",
  up: "\x1b[A",
  down: "\x1b[B",
  shiftLeft: "\x1b[1;2D",
  shiftRight: "\x1b[1;2C",
  controlC: "\x03",
  controlD: "\x04",
  controlG: "\x07",
  controlJ: "\n",
  controlL: "\x0c",
  controlQ: "\x11",
  controlR: "\x12",
  controlZ: "\x1a",
  f1: "\x1bOP",
  f2: "\x1bOQ",
  f3: "\x1bOR",
  f4: "\x1bOS",
  f5: "\x1b[15~",
  paste: (text: string): string => `\x1b[200~${text}\x1b[201~`,
} as const;

/** A terminal in which the program runs. */
export class LiveTerminal implements AsyncDisposable {
  readonly home: TemporaryDirectory;
  readonly emulator: TerminalEmulator;
  readonly #host: Host;
  readonly #input: KeyboardInput;
  readonly #fake: ReturnType<typeof createFakeHost>;
  readonly #ownsHome: boolean;
  readonly #requests: string[] = [];
  readonly #redraw = new Set<(cause: "resized" | "continued") => void>();
  readonly #suspend = new Set<() => void>();
  readonly #closed = new AbortController();
  #ended: number | undefined;
  #running: Promise<number> | undefined;
  readonly #cwd: string;

  constructor(home: TemporaryDirectory, options: LiveTerminalOptions) {
    const { columns = 80, rows = 20, env = {}, model = [] } = options;
    this.home = home;
    this.#cwd = `${home.path}/${options.directory ?? "p"}`;
    this.#ownsHome = options.home === undefined;
    this.emulator = new TerminalEmulator({ columns, rows });
    this.#input = new KeyboardInput();
    this.#fake = createFakeHost();
    const output: Output = {
      isTerminal: true,
      closed: this.#closed.signal,
      write: async (content) => {
        if (this.#closed.signal.aborted) return;
        // As the driver of a terminal does.
        const text = typeof content === "string" ? content : new TextDecoder().decode(content);
        await this.emulator.write(text.replaceAll(/(?<!\r)\n/g, "\r\n"));
      },
    };
    const values: Readonly<Record<string, string>> = {
      ANTHROPIC_API_KEY: "k",
      HOME: home.path,
      // The emulator is that of Visual Studio Code.
      TERM: "xterm-256color",
      TERM_PROGRAM: "vscode",
      ...Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value.replaceAll("HOME", home.path)]),
      ),
    };
    const { emulator } = this;
    const { terminal } = this.#fake;
    this.#host = {
      ...this.#fake,
      now: options.now ?? Date.now,
      env: (name) => values[name],
      fetch: createModel(model, this.#requests),
      terminal: {
        ...terminal,
        input: this.#input,
        keyboard: this.#input,
        output,
        messages: {
          ...output,
          write: async (content) => {
            this.messages += typeof content === "string"
              ? content
              : new TextDecoder().decode(content);
            await output.write(content);
          },
        },
        get columns() {
          return emulator.columns;
        },
        get rows() {
          return emulator.rows;
        },
        onRedraw: (listener) => listen(this.#redraw, listener),
        onSuspend: (listener) => listen(this.#suspend, listener),
        requestSuspension: () => this.#suspend.forEach((listener) => listener()),
        stop: () => {
          this.suspensions.push({ isRaw: this.isRaw });
          return Promise.resolve(false);
        },
      },
    };
  }

  /** The text of standard error. */
  messages = "";

  /** The mode of the terminal at each time that the program was stopped. */
  readonly suspensions: { readonly isRaw: boolean }[] = [];

  /** Starts the program. */
  start(args: readonly string[]): void {
    this.#running = main(["--cwd", this.#cwd, ...args], this.#host);
    void this.#running.then((code) => this.#ended = code);
  }

  /** The screen with scrollback, with `HOME` in place of the home directory and all durations as `0.0 s` or `0 s`. */
  get text(): string {
    return normalize(this.emulator.text, this.home);
  }

  /** The screen. */
  get screen(): string {
    return normalize(this.emulator.screen, this.home);
  }

  /** The bodies of the requests. */
  get requests(): readonly {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  }[] {
    return this.#requests.map((body) => JSON.parse(body));
  }

  /** Returns the texts of the user in the last request. */
  listPrompts(): string[] {
    const { messages } = this.requests.at(-1) ?? { messages: [] };
    return messages.filter(({ role }) => role === "user").flatMap(({ content }) => {
      if (!Array.isArray(content)) return [String(content)];
      const texts: readonly string[] = content.flatMap(({ text }) =>
        typeof text === "string" ? [text] : []
      );
      return texts.length > 0 ? [texts.join("")] : [];
    });
  }

  /** Whether the terminal is in raw mode. */
  get isRaw(): boolean {
    return this.#input.isRaw;
  }

  /** Types keys that arrive together. */
  press(...keys: readonly string[]): void {
    for (const key of keys) this.#input.push(key);
  }

  /** Types a text and Enter. */
  async enter(text: string): Promise<void> {
    this.press(text);
    await this.waitFor(() => this.screen.includes(text.split("\n")[0] ?? ""));
    this.press(KEYS.enter);
  }

  /** Waits until the screen or its scrollback shows a text, or a condition is true. */
  async waitFor(expected: string | RegExp | (() => boolean)): Promise<void> {
    const condition = typeof expected === "function" ? expected : () => {
      const { text } = this;
      return typeof expected === "string" ? text.includes(expected) : expected.test(text);
    };
    await waitUntil(condition, {
      timeoutMs: 30_000,
      check: () => {
        if (this.#ended === undefined || condition()) return;
        throw new Error(`The program ended with ${this.#ended} before: ${expected}\n${this.text}`);
      },
    }).catch((error) => {
      throw new Error(`${error.message}\nwaiting for: ${expected}\n${this.text}`);
    });
  }

  /** Changes the size of the terminal. */
  resize(columns: number, rows: number): void {
    this.emulator.resize(columns, rows);
    this.#redraw.forEach((listener) => listener("resized"));
  }

  /** Continues the program after a stop that it could not prepare, as SIGSTOP and SIGCONT do. */
  continue(): void {
    this.#redraw.forEach((listener) => listener("continued"));
  }

  /** Sends a signal to the program. */
  sendSignal(signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void {
    this.#fake.sendSignal(signal);
  }

  /** Closes the terminal, as a window that is closed does. */
  close(): void {
    this.#closed.abort();
    this.#input.end();
    this.sendSignal("SIGHUP");
  }

  /** Waits for the end of the program. Returns its exit code. */
  async waitForExit(): Promise<number> {
    return await this.#running ?? -1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended === undefined) {
      this.press(KEYS.controlQ);
      this.sendSignal("SIGTERM");
      await this.#running;
    }
    this.emulator[Symbol.dispose]();
    if (this.#ownsHome) await this.home[Symbol.asyncDispose]();
  }
}

/** Starts the program in a terminal, and waits for its agent. */
export async function openTerminal(options: LiveTerminalOptions = {}): Promise<LiveTerminal> {
  const home = options.home ??
    await createTemporaryDirectory({ "p/.keep": "", ...options.files });
  const terminal = new LiveTerminal(home, options);
  terminal.start(options.args ?? []);
  const { awaits = "agent" } = options;
  if (awaits === "prompt") await terminal.waitFor("›");
  else if (awaits === "agent") {
    await terminal.waitFor(() => /(?:EXECUTE|PLAN) · /.test(terminal.screen));
  }
  return terminal;
}

/** Creates a reply that stops before its end, and the function that continues it. */
export function holdReply(
  reply: ScriptedReply,
  heldFrames?: number,
): HeldReply & { readonly release: () => void } {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  return { reply, released, release, ...(heldFrames !== undefined && { heldFrames }) };
}

function createModel(model: readonly LiveReply[], requests: string[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    requests.push(await request.text());
    const number = requests.length;
    const entry = model[number - 1];
    if (!entry) return new Response("no reply for this request", { status: 400 });
    const held = "released" in entry ? entry : undefined;
    const reply = "released" in entry ? entry.reply : entry;
    const frames = createAnthropicFrames(reply, number);
    const end = held ? frames.length - (held.heldFrames ?? 3) : frames.length;
    const encoder = new TextEncoder();
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
        for (const frame of frames.slice(0, end)) controller.enqueue(encoder.encode(frame));
        if (held) await held.released;
        if (isCancelled || init?.signal?.aborted) return;
        for (const frame of frames.slice(end)) controller.enqueue(encoder.encode(frame));
        controller.close();
      },
      cancel() {
        isCancelled = true;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

function normalize(text: string, home: TemporaryDirectory): string {
  return text.replaceAll(home.path, "HOME")
    .replaceAll(/\b\d{8}-\d{6}-[a-z0-9]+\b/g, "SESSION")
    .replaceAll(/(?<= · )\d+\.\d s\b/g, "0.0 s")
    .replaceAll(/(?<= · )\d+ s\b/g, "0 s");
}

function listen<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keys that the test types. */
class KeyboardInput implements Input {
  readonly isTerminal: boolean = true;
  readonly bytes: ReadableStream<Uint8Array>;
  isRaw = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor() {
    this.bytes = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
    });
  }

  setRaw(isRaw: boolean): void {
    this.isRaw = isRaw;
  }

  pause(): void {
    // No other program reads this input.
  }

  resume(): void {
    // No other program reads this input.
  }

  push(key: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(key));
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
