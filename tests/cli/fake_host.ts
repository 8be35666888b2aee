/**
 * A fake host for tests of the program: no network, no terminal, scripted input.
 *
 * @module
 */

import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import type { Host, Input, Output, StopSignal } from "../../cli/main.ts";
import { type ReplayFetch, replayFetch, type ReplayFixture } from "../../src/testing/mod.ts";

/** Options for `createFakeHost()`. */
export interface FakeHostOptions {
  /** Replies of the model, one per request. Default: no request is expected. */
  readonly model?: readonly (ScriptedReply | ReplayFixture)[];
  /** Environment variables. Default: a key for Anthropic. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input: a complete text or a stream. Default: empty. */
  readonly input?: string | ReadableStream<Uint8Array>;
  /** Keys typed after `input`, the next ones at each question: those that arrive at once, or a list. The input ends after the last ones. */
  readonly answers?: readonly (string | readonly string[])[];
  /** The streams that are a terminal. Default: none. */
  readonly terminals?: readonly ("input" | "output" | "messages")[];
  /** Columns of the terminal. Default: 80. */
  readonly columns?: number;
  /** Rows of the terminal. Default: 24. */
  readonly rows?: number;
  /** Returns the current time. Default: a fixed time. */
  readonly now?: () => number;
  /** Default: no time passes. */
  readonly elapsed?: () => number;
}

/** A host that records its use. */
export interface FakeHost extends Host {
  /** Text of standard output. */
  readonly output: string;
  /** Bytes of standard output. */
  readonly outputBytes: Uint8Array;
  /** Text of standard error. */
  readonly messages: string;
  /** Text of both, in order. */
  readonly screen: string;
  /** The writes to standard output (`output`) and standard error (`messages`), in order. */
  readonly written: readonly { readonly to: string; readonly text: string }[];
  /** Requests to the provider. */
  readonly requests: ReplayFetch["requests"];
  /** Codes of immediate exits. */
  readonly exitCodes: readonly number[];
  /** Whether the terminal is in raw mode. */
  readonly isRaw: boolean;
  /** Sends a signal to the program. */
  sendSignal(signal: StopSignal): void;
  /** Changes the size of the terminal. */
  resize(columns: number, rows: number): void;
  /** Notifies the program that it continues after a suspension. */
  continueAfterSuspension(): void;
  /** Closes standard output, as a reader that exits does. */
  closeOutput(): void;
  /** Calls `listener` with every write to standard error. */
  onMessage(listener: (text: string) => void): void;
}

/** The default time of a fake host, which does not advance. */
export const FAKE_TIME: number = Date.UTC(2026, 0, 2);

/** Creates a host. */
export function createFakeHost(options: FakeHostOptions = {}): FakeHost {
  const { env = { ANTHROPIC_API_KEY: "sk-ant-test" }, columns = 80, rows = 24 } = options;
  const isTerminal = (name: "input" | "output" | "messages") =>
    options.terminals?.includes(name) ?? false;
  const fetch = replayFetch((options.model ?? []).map(toFixture));
  const exitCodes: number[] = [];
  const listeners = new Set<(signal: StopSignal) => void>();
  const written: { readonly to: string; readonly text: string }[] = [];
  const chunks: Uint8Array[] = [];
  const output = new FakeOutput(isTerminal("output"), (text, bytes) => {
    written.push({ to: "output", text });
    chunks.push(bytes);
  });
  const size = { columns, rows };
  const redrawListeners = new Set<(cause: "resized" | "continued") => void>();
  const suspendListeners = new Set<() => void>();
  const messageListeners: ((text: string) => void)[] = [];
  const input = new FakeInput(isTerminal("input"), options);
  messageListeners.push((text) => input.onMessage(text));
  const messages = new FakeOutput(isTerminal("messages"), (text) => {
    written.push({ to: "messages", text });
    for (const listener of messageListeners) listener(text);
  });
  const textTo = (to: string) =>
    written.filter((entry) => entry.to === to).map(({ text }) => text).join("");
  return {
    terminal: {
      input,
      keyboard: input.isTerminal ? input : undefined,
      output,
      messages,
      get columns() {
        return size.columns;
      },
      get rows() {
        return size.rows;
      },
      onRedraw(listener) {
        redrawListeners.add(listener);
        return () => redrawListeners.delete(listener);
      },
      onSuspend(listener) {
        suspendListeners.add(listener);
        return () => suspendListeners.delete(listener);
      },
      requestSuspension: () => suspendListeners.forEach((listener) => listener()),
      stop: () => Promise.resolve(false),
      restoreOnExit: () => ({ [Symbol.dispose]() {} }),
      watchOutput: () => ({ [Symbol.dispose]() {} }),
    },
    fetch,
    now: options.now ?? (() => FAKE_TIME),
    elapsed: options.elapsed ?? (() => 0),
    env: (name) => env[name],
    onStop(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    exit: (code) => void exitCodes.push(code),
    get output() {
      return textTo("output");
    },
    get outputBytes() {
      return new Uint8Array(chunks.flatMap((chunk) => [...chunk]));
    },
    get messages() {
      return textTo("messages");
    },
    get screen() {
      return written.map(({ text }) => text).join("");
    },
    written,
    requests: fetch.requests,
    exitCodes,
    get isRaw() {
      return input.isRaw;
    },
    sendSignal: (signal) => listeners.forEach((listener) => listener(signal)),
    resize(columns, rows) {
      Object.assign(size, { columns, rows });
      redrawListeners.forEach((listener) => listener("resized"));
    },
    continueAfterSuspension: () => redrawListeners.forEach((listener) => listener("continued")),
    closeOutput: () => output.close(),
    onMessage: (listener) => void messageListeners.push(listener),
  };
}

class FakeInput implements Input {
  readonly isTerminal: boolean;
  readonly bytes: ReadableStream<Uint8Array>;
  isRaw = false;
  readonly #answers: (string | readonly string[])[];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isQuestionExpected = false;

  constructor(isTerminal: boolean, { input = "", answers = [] }: FakeHostOptions) {
    this.isTerminal = isTerminal;
    this.#answers = [...answers];
    this.bytes = typeof input === "string"
      ? new ReadableStream({
        start: (controller) => {
          this.#controller = controller;
          this.#type(input);
        },
      })
      : input;
  }

  setRaw(isRaw: boolean): void {
    this.isRaw = isRaw;
    if (isRaw) this.#isQuestionExpected = true;
  }

  pause(): void {
    // No other program reads this input.
  }

  resume(): void {
    // No other program reads this input.
  }

  /** Types the next answer when a question is shown for the first time. */
  onMessage(text: string): void {
    if (
      !this.#isQuestionExpected || !/(Allow|Save|Trust|Delete|Model|Session)\?|not shown/.test(text)
    ) {
      return;
    }
    this.#isQuestionExpected = false;
    this.#type(...[this.#answers.shift() ?? ""].flat());
  }

  #type(...chunks: readonly string[]): void {
    for (const chunk of chunks) {
      if (chunk !== "") this.#controller?.enqueue(new TextEncoder().encode(chunk));
    }
    if (this.#answers.length > 0) return;
    this.#controller?.close();
    this.#controller = undefined;
  }
}

class FakeOutput implements Output {
  readonly isTerminal: boolean;
  readonly #closing = new AbortController();
  readonly #onWrite: (text: string, bytes: Uint8Array) => void;

  constructor(isTerminal: boolean, onWrite: (text: string, bytes: Uint8Array) => void) {
    this.isTerminal = isTerminal;
    this.#onWrite = onWrite;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  write(content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    if (!this.closed.aborted) this.#onWrite(new TextDecoder().decode(bytes), bytes);
    return Promise.resolve();
  }

  close(): void {
    this.#closing.abort();
  }
}

function toFixture(reply: ScriptedReply | ReplayFixture, index: number): ReplayFixture {
  if (typeof reply !== "object" || !("blocks" in reply)) return reply;
  return {
    headers: { "content-type": "text/event-stream" },
    body: createAnthropicFrames(reply, index + 1).join(""),
  };
}

/** Creates a reply of text and tool calls. */
export function scriptedReply(...blocks: ScriptedReply["blocks"]): ScriptedReply {
  return { blocks, inputTokens: 100, outputTokens: 20 };
}

/** Creates a tool call. */
export function scriptedCall(
  tool: string,
  input: Readonly<Record<string, unknown>> = {},
): ScriptedReply["blocks"][number] {
  return { tool, input };
}
