/**
 * The keyboard of a terminal in raw mode.
 *
 * @module
 */

import type { Terminal } from "../host/terminal.ts";
import type { TerminalFeatures } from "../host/terminal_features.ts";
import type { StartTimer } from "../host/timer.ts";
import { KeyDecoder } from "./key_decoder.ts";
import type { KeyEvent } from "./key_event.ts";

/**
 * Reads keys while the terminal is in raw mode: Ctrl+C, Ctrl+Z and Ctrl+\ are keys, typed keys are not shown, and a paste
 * arrives as one event.
 */
export interface Keyboard extends AsyncDisposable {
  /**
   * Returns the keys that arrived together, at least one; `undefined` at the end of the input, such as when the terminal
   * is closed, or when `signal` is aborted. Keys that arrive between calls are kept.
   */
  read(signal?: AbortSignal): Promise<readonly KeyEvent[] | undefined>;
  /**
   * Takes the keys that were typed before this call, including an unfinished sequence, which may take until the user
   * stops typing. They are returned, because a key that ends a run is meant at any time.
   */
  discard(signal?: AbortSignal): Promise<readonly KeyEvent[]>;
  /**
   * Restores the terminal and stops reading, so that another program, such as an editor, can use it. The caller has
   * erased the live region.
   */
  suspend(): Promise<void>;
  /** Enters raw mode again. */
  resume(): Promise<void>;
  /** Restores the terminal. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options for `openKeyboard()`. */
export interface KeyboardOptions {
  /** The terminal, whose standard input and output are one. */
  readonly terminal: Pick<Terminal, "input" | "output" | "restoreOnExit">;
  /** The abilities of the terminal. */
  readonly features: Pick<TerminalFeatures, "keyProtocol" | "hasPasteMode">;
  /** Starts timers. */
  readonly startTimer: StartTimer;
}

const CARRIAGE_RETURN = 0x0d;

/** Time without input after which all earlier input has been read. */
const QUIET_MS = 200;

/** Ends what another program or a frame that was not completed may have set: an update, a hidden cursor, a style. */
const RESET = "\x1b[?2026l\x1b[?25h\x1b[m";

/** Sequences that start and end the reports of keys. */
const PROTOCOLS: Readonly<Record<TerminalFeatures["keyProtocol"], readonly [string, string]>> = {
  // Escape and keys with modifiers are no longer ambiguous; text remains text.
  kitty: ["\x1b[>1u", "\x1b[<u"],
  modify_other_keys: ["\x1b[>4;1m", "\x1b[>4m"],
  none: ["", ""],
};

const PASTE_MODE = ["\x1b[?2004h", "\x1b[?2004l"] as const;

/** Enters raw mode and reads keys until the result is disposed of. */
export async function openKeyboard(options: KeyboardOptions): Promise<Keyboard> {
  const keyboard = new TerminalKeyboard(options);
  await keyboard.resume();
  return keyboard;
}

type ReadResult = ReadableStreamReadResult<Uint8Array>;

/** A terminal that has been closed fails to read, which is the end of its input. */
const END: ReadResult = { done: true };

/**
 * Matches a line that was typed before the raw mode: the terminal has made a line feed of its Enter, which would be
 * Ctrl+J. Several lines may be a pasted text, and stay one.
 */
// deno-lint-ignore no-control-regex -- a text without control characters
const EARLY_LINE = /^[^\x00-\x1f\x7f]+\n$/;

class TerminalKeyboard implements Keyboard {
  readonly #options: KeyboardOptions;
  readonly #decoder = new KeyDecoder();
  readonly #start: string;
  readonly #end: string;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #pendingRead: Promise<ReadResult> | undefined;
  #restoring: Disposable | undefined;
  #hasRead = false;

  constructor(options: KeyboardOptions) {
    this.#options = options;
    const { keyProtocol, hasPasteMode } = options.features;
    const [pasteStart, pasteEnd] = hasPasteMode ? PASTE_MODE : ["", ""];
    const [protocolStart, protocolEnd] = PROTOCOLS[keyProtocol];
    this.#start = pasteStart + protocolStart;
    this.#end = protocolEnd + pasteEnd;
  }

  async read(signal?: AbortSignal): Promise<readonly KeyEvent[] | undefined> {
    while (!signal?.aborted) {
      const { awaitsMs } = this.#decoder;
      const chunk = await this.#readChunk(awaitsMs, signal);
      if (chunk === "end") return undefined;
      const keys = chunk === "timeout" ? this.#decoder.expire() : this.#decode(chunk);
      if (keys.length > 0) return keys;
    }
    return undefined;
  }

  #decode(chunk: Uint8Array): readonly KeyEvent[] {
    const isFirst = !this.#hasRead;
    this.#hasRead = true;
    const isEarlyLine = isFirst && EARLY_LINE.test(new TextDecoder().decode(chunk));
    return this.#decoder.push(isEarlyLine ? chunk.with(-1, CARRIAGE_RETURN) : chunk);
  }

  async discard(signal?: AbortSignal): Promise<readonly KeyEvent[]> {
    const keys: KeyEvent[] = [];
    while (!signal?.aborted) {
      const chunk = await this.#readChunk(QUIET_MS, signal);
      if (chunk === "end") return keys;
      if (chunk === "timeout") break;
      for (const key of this.#decoder.push(chunk)) keys.push(key);
    }
    return [...keys, ...this.#decoder.expire()];
  }

  async suspend(): Promise<void> {
    const { input, output } = this.#options.terminal;
    input.pause();
    this.#restoring?.[Symbol.dispose]();
    this.#restoring = undefined;
    await output.write(this.#end).catch(() => {});
    input.setRaw(false);
  }

  async resume(): Promise<void> {
    const { terminal } = this.#options;
    const { input, output } = terminal;
    this.#restoring ??= terminal.restoreOnExit(RESET + this.#end);
    input.setRaw(true, { hasSignalKeys: true });
    input.resume();
    await output.write(this.#start).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#restoring) await this.suspend();
    this.#reader?.releaseLock();
  }

  /** Reads the next bytes. A read that is pending after `timeoutMs` or an abort continues in the next call. */
  async #readChunk(
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | "timeout" | "end"> {
    this.#reader ??= this.#options.terminal.input.bytes.getReader();
    this.#pendingRead ??= this.#reader.read().catch(() => END);
    const { promise, resolve } = Promise.withResolvers<"timeout" | "end">();
    const onAbort = () => resolve("end");
    signal?.addEventListener("abort", onAbort, { once: true });
    const stopTimer = timeoutMs === undefined
      ? undefined
      : this.#options.startTimer(() => resolve("timeout"), timeoutMs);
    try {
      const result = await Promise.race([this.#pendingRead, promise]);
      if (typeof result === "string") return result;
      this.#pendingRead = undefined;
      return result.value ?? "end";
    } finally {
      stopTimer?.();
      signal?.removeEventListener("abort", onAbort);
    }
  }
}
