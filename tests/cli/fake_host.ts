/**
 * A machine without a network, a terminal or a person, for the program to run on.
 *
 * @module
 */

import type { Host, Output, StopSignal } from "../../cli/main.ts";
import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { type ReplayFetch, replayFetch, type ReplayFixture } from "../../src/testing/mod.ts";

/** What a {@linkcode FakeHost} is like. */
export interface FakeHostOptions {
  /** What the model answers, request by request. Default: nothing may be asked. */
  readonly model?: readonly (ScriptedReply | ReplayFixture)[];
  /** The environment. Default: a key for Anthropic. */
  readonly env?: Readonly<Record<string, string>>;
  /** What comes from standard input: a text and its end, or a stream. Default: nothing, at once. */
  readonly input?: string | ReadableStream<Uint8Array>;
  /** Which streams are a terminal. Default: none. */
  readonly terminals?: readonly ("input" | "output" | "messages")[];
  /** Columns of the terminal. Default: 80. */
  readonly columns?: number;
}

/** A machine, and what the program did with it. */
export interface FakeHost extends Host {
  /** What it wrote to standard output. */
  readonly output: string;
  /** The bytes of it. */
  readonly outputBytes: Uint8Array;
  /** What it wrote to standard error. */
  readonly messages: string;
  /** Both, as they would be seen on one screen. */
  readonly screen: string;
  /** The requests to the model. */
  readonly requests: ReplayFetch["requests"];
  /** Codes with which it left at once. */
  readonly exitCodes: readonly number[];
  /** Sends it a signal. */
  sendSignal(signal: StopSignal): void;
  /** Lets the reader of standard output go away. */
  closeOutput(): void;
  /** Calls `listener` with every piece that is written to standard error. */
  onMessage(listener: (text: string) => void): void;
}

/** Makes a machine. */
export function createFakeHost(options: FakeHostOptions = {}): FakeHost {
  const { env = { ANTHROPIC_API_KEY: "sk-ant-test" }, input = "", columns = 80 } = options;
  const isTerminal = (name: "input" | "output" | "messages") =>
    options.terminals?.includes(name) ?? false;
  const fetch = replayFetch((options.model ?? []).map(toFixture));
  const exits: number[] = [];
  const listeners = new Set<(signal: StopSignal) => void>();
  const written: { readonly to: string; readonly text: string }[] = [];
  const pieces: Uint8Array[] = [];
  const output = new FakeOutput(isTerminal("output"), (text, bytes) => {
    written.push({ to: "output", text });
    pieces.push(bytes);
  });
  const messageListeners: ((text: string) => void)[] = [];
  const messages = new FakeOutput(isTerminal("messages"), (text) => {
    written.push({ to: "messages", text });
    for (const listener of messageListeners) listener(text);
  });
  const textTo = (to: string) =>
    written.filter((each) => each.to === to).map(({ text }) => text).join("");
  return {
    terminal: {
      input: {
        isTerminal: isTerminal("input"),
        bytes: typeof input === "string" ? new Blob([input]).stream() : input,
      },
      output,
      messages,
      columns,
    },
    fetch,
    env: (name) => env[name],
    onStop(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    exit: (code) => void exits.push(code),
    get output() {
      return textTo("output");
    },
    get outputBytes() {
      return new Uint8Array(pieces.flatMap((piece) => [...piece]));
    },
    get messages() {
      return textTo("messages");
    },
    get screen() {
      return written.map(({ text }) => text).join("");
    },
    requests: fetch.requests,
    exitCodes: exits,
    sendSignal: (signal) => listeners.forEach((listener) => listener(signal)),
    closeOutput: () => output.close(),
    onMessage: (listener) => void messageListeners.push(listener),
  };
}

class FakeOutput implements Output {
  readonly isTerminal: boolean;
  readonly #closing = new AbortController();
  readonly #onWrite: (text: string, bytes: Uint8Array) => void;

  constructor(isTerminal: boolean, take: (text: string, bytes: Uint8Array) => void) {
    this.isTerminal = isTerminal;
    this.#onWrite = take;
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

function toFixture(answer: ScriptedReply | ReplayFixture, index: number): ReplayFixture {
  if (typeof answer !== "object" || !("blocks" in answer)) return answer;
  return {
    headers: { "content-type": "text/event-stream" },
    body: createAnthropicFrames(answer, index + 1).join(""),
  };
}

/** A reply of the model: text, and calls of tools. */
export function scriptedReply(...blocks: ScriptedReply["blocks"]): ScriptedReply {
  return { blocks, inputTokens: 100, outputTokens: 20 };
}

/** A call of a tool. */
export function scriptedCall(
  tool: string,
  input: Readonly<Record<string, unknown>> = {},
): ScriptedReply["blocks"][number] {
  return { tool, input };
}
