/**
 * Standard input, output and error. Other modules use them only through this interface.
 *
 * @module
 */

import { importLate } from "./import_late.ts";
import type { KeySource } from "./key_source.ts";

/** An output stream. */
export interface Output {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /**
   * Aborted when a write, or {@linkcode Terminal.watchOutput}, finds that the reader has closed the stream; later writes
   * are dropped.
   */
  readonly closed: AbortSignal;
  /** Writes all of the content. Standard output rejects when a write fails, except for a closed stream. */
  write(content: string | Uint8Array): Promise<void>;
}

/** An input stream. */
export interface Input {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /** Whether it is known to be empty, as the null device is. Default: `false`. */
  readonly isEmpty?: boolean;
  /** The bytes. Not opened before this is read. */
  readonly bytes: ReadableStream<Uint8Array>;
  /** Switches a terminal from lines to keys, which arrive at once and are not shown, or back. */
  setRaw(isRaw: boolean, options?: RawModeOptions): void;
  /** Stops reading, so that another program can read from the terminal. A read that is pending waits for `resume()`. */
  pause(): void;
  /** Reads again after `pause()`. */
  resume(): void;
}

/** Options for {@linkcode Input.setRaw}. */
export interface RawModeOptions {
  /** Whether Ctrl+C, Ctrl+Z and Ctrl+\ are keys instead of signals. Default: `false`. */
  readonly hasSignalKeys?: boolean | undefined;
}

/** The standard streams and the size of the terminal. */
export interface Terminal {
  /** Standard input. */
  readonly input: Input;
  /** The keys for questions: standard input if it is a terminal, else the controlling terminal, if there is one. */
  readonly keyboard: Input | undefined;
  /** Standard output: the result. */
  readonly output: Output;
  /** Standard error: progress, warnings and errors. */
  readonly messages: Output;
  /** Columns of the terminal; 80 without a terminal. */
  readonly columns: number;
  /** Rows of the terminal; 24 without a terminal. */
  readonly rows: number;
  /**
   * Calls `listener` when the screen has to be drawn again: after a resize, and when the program continues after a
   * suspension. Returns a function that removes the listener.
   */
  onRedraw(listener: (cause: "resized" | "continued") => void): () => void;
  /**
   * Calls `listener` when the program is to be suspended, by the signal SIGTSTP. It prepares the terminal for the shell
   * and calls `stop()`. Returns a function that removes the listener.
   */
  onSuspend(listener: () => void): () => void;
  /** Asks the program to suspend, as Ctrl+Z does outside of raw mode. */
  requestSuspension(): void;
  /**
   * Stops the process and its process group, which has programs that started it, until the shell continues them.
   *
   * @returns Whether it was stopped. Without a shell that could continue it, it is not.
   */
  stop(): Promise<boolean>;
  /**
   * Writes a text and leaves raw mode when the process exits, also after an uncaught error, until the result is disposed
   * of.
   */
  restoreOnExit(text: string): Disposable;
  /** Checks regularly whether the reader has closed standard output, until the result is disposed of. */
  watchOutput(): Disposable;
}

/** The terminal of a process. */
export interface ProcessTerminal extends Terminal {
  /**
   * From now on, an output whose reader reads nothing for some seconds counts as closed. Called when the process has to
   * end, which a reader that has stopped reading must not prevent.
   */
  limitWaits(): void;
}

/** Returns the keyboard if a user at the terminal can see a question and answer it. */
export function findKeyboard(
  terminal: Pick<Terminal, "messages" | "keyboard">,
): Input | undefined {
  return terminal.messages.isTerminal ? terminal.keyboard : undefined;
}

/** Creates the terminal of this process. */
export function createDenoTerminal(): ProcessTerminal {
  const input = new DenoInput(Deno.stdin);
  const output = new DenoOutput(Deno.stdout, { mayFail: true });
  // A failure to write a message cannot be reported.
  const messages = new DenoOutput(Deno.stderr, { mayFail: false });
  let keyboard: Input | undefined;
  return {
    input,
    get keyboard() {
      keyboard ??= input.isTerminal ? input : openControllingTerminal();
      return keyboard;
    },
    output,
    messages,
    get columns() {
      return getTerminalSize()?.columns || 80;
    },
    get rows() {
      return getTerminalSize()?.rows || 24;
    },
    onRedraw: listenForRedraws,
    onSuspend: (listener) => isWindows() ? () => {} : listenForSignals([["SIGTSTP", listener]]),
    requestSuspension() {
      // A parent such as npx would stop before the terminal is prepared, and the shell take it back.
      if (!isWindows()) Deno.kill(Deno.pid, "SIGTSTP");
    },
    async stop() {
      const { hasJobControl } = await importLate<typeof import("./job_control.ts")>(
        "./job_control.ts",
        import.meta.url,
      );
      const canContinue = await hasJobControl();
      if (canContinue) Deno.kill(PROCESS_GROUP, "SIGSTOP");
      return canContinue;
    },
    restoreOnExit: (text) => listenForExit(() => restoreTerminal(input, text)),
    watchOutput: () => watchReader(output),
    limitWaits: () => [output, messages].forEach((stream) => stream.limitWaits()),
  };
}

function listenForRedraws(listener: (cause: "resized" | "continued") => void): () => void {
  if (isWindows()) return () => {};
  return listenForSignals([
    ["SIGWINCH", () => listener("resized")],
    ["SIGCONT", () => listener("continued")],
  ]);
}

function listenForSignals(
  handlers: readonly (readonly [signal: Deno.Signal, handler: () => void])[],
): () => void {
  for (const [signal, handler] of handlers) Deno.addSignalListener(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
  };
}

/** The process id that denotes the processes of the own group. */
const PROCESS_GROUP = 0;

/** Events after which a process ends, unless a listener prevents it. */
const EXIT_EVENTS = ["unload", "error", "unhandledrejection"];

function listenForExit(listener: () => void): Disposable {
  for (const event of EXIT_EVENTS) globalThis.addEventListener(event, listener);
  return {
    [Symbol.dispose]() {
      for (const event of EXIT_EVENTS) globalThis.removeEventListener(event, listener);
    },
  };
}

/** Restores the terminal without waiting, since the process is about to exit. */
function restoreTerminal(input: Input, text: string): void {
  try {
    Deno.stdout.writeSync(new TextEncoder().encode(text));
  } catch {
    // The terminal is closed.
  }
  input.setRaw(false);
}

/** File descriptor of standard output. */
const STDOUT = 1;

/** Time between checks of the reader of standard output. */
const WATCH_INTERVAL_MS = 1_000;

function watchReader(output: DenoOutput): Disposable {
  // A terminal that is closed sends a signal.
  if (output.isTerminal) return { [Symbol.dispose]() {} };
  let isReaderGone: (() => boolean) | undefined;
  const check = async () => {
    const { createReaderProbe } = await importLate<typeof import("./pipe_reader.ts")>(
      "./pipe_reader.ts",
      import.meta.url,
    );
    isReaderGone ??= createReaderProbe(STDOUT);
    if (isReaderGone()) output.close();
  };
  // A write finds it out when the check is not possible.
  const timer = setInterval(() => check().catch(() => {}), WATCH_INTERVAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Opens the terminal of a process whose standard input is something else. */
function openControllingTerminal(): Input | undefined {
  if (isWindows()) return undefined;
  try {
    return new DenoInput(Deno.openSync("/dev/tty"));
  } catch {
    return undefined;
  }
}

class DenoInput implements Input {
  readonly #file: typeof Deno.stdin | Deno.FsFile;
  readonly isTerminal: boolean;
  #bytes: ReadableStream<Uint8Array> | undefined;
  #keys: KeySource | undefined;
  #isPaused = false;
  #hasSignalKeys = false;

  constructor(file: typeof Deno.stdin | Deno.FsFile) {
    this.#file = file;
    this.isTerminal = file.isTerminal();
  }

  get isEmpty(): boolean {
    return this.#file === Deno.stdin && isNullDevice("/dev/stdin");
  }

  get bytes(): ReadableStream<Uint8Array> {
    const isSupported = this.#file === Deno.stdin && this.isTerminal && !isWindows();
    if (!isSupported) return this.#file.readable;
    // Reads only what is requested; the rest remains for other programs.
    this.#bytes ??= new ReadableStream(
      { pull: (controller) => this.#readKeys(controller) },
      { highWaterMark: 0 },
    );
    return this.#bytes;
  }

  pause(): void {
    this.#isPaused = true;
    this.#keys?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#keys?.resume();
  }

  async #readKeys(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (!this.#keys) {
      const { openKeySource } = await importLate<typeof import("./key_source.ts")>(
        "./key_source.ts",
        import.meta.url,
      );
      this.#keys = await openKeySource();
      if (this.#isPaused) this.#keys.pause();
    }
    const bytes = await this.#keys.read();
    if (bytes) controller.enqueue(bytes);
    else controller.close();
  }

  setRaw(isRaw: boolean, { hasSignalKeys = false }: RawModeOptions = {}): void {
    this.#hasSignalKeys = hasSignalKeys;
    if (isRaw) this.#enterRawMode();
    else ignoreClosedTerminal(() => this.#file.setRaw(false));
    if (isWindows()) return;
    // A shell sets its own mode before it continues a stopped program.
    if (isRaw) Deno.addSignalListener("SIGCONT", this.#enterRawMode);
    else Deno.removeSignalListener("SIGCONT", this.#enterRawMode);
  }

  /** Without `cbreak`, which Windows does not support, Ctrl+C does not send a signal. */
  readonly #enterRawMode = (): void => {
    const cbreak = !this.#hasSignalKeys && !isWindows();
    ignoreClosedTerminal(() => this.#file.setRaw(true, { cbreak }));
  };
}

/** Whether a path is that of the null device, also by a link. */
function isNullDevice(path: string): boolean {
  if (isWindows()) return false;
  try {
    const { isCharDevice, rdev } = Deno.statSync(path);
    return isCharDevice === true && rdev === Deno.statSync("/dev/null").rdev;
  } catch {
    return false;
  }
}

/** Changes the mode of a terminal. That fails when the window has been closed, which also sends SIGHUP and SIGCONT. */
function ignoreClosedTerminal(setMode: () => void): void {
  try {
    setMode();
  } catch {
    // The mode of a closed terminal has no effect.
  }
}

function isWindows(): boolean {
  return Deno.build.os === "windows";
}

/** Time without progress after which a write is abandoned, at most twice as long. */
const STALLED_MS = 2_000;

class DenoOutput implements Output {
  readonly isTerminal: boolean;
  readonly #stream: typeof Deno.stdout;
  readonly #mayFail: boolean;
  readonly #closing = new AbortController();
  #lastWrite: Promise<void> = Promise.resolve();
  /** Ends the wait for the write that is under way. */
  #abandonWrite: (() => void) | undefined;
  #isLimited = false;

  constructor(stream: typeof Deno.stdout, { mayFail }: { readonly mayFail: boolean }) {
    this.isTerminal = stream.isTerminal();
    this.#stream = stream;
    this.#mayFail = mayFail;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  close(): void {
    this.#closing.abort();
  }

  limitWaits(): void {
    if (this.#isLimited) return;
    this.#isLimited = true;
    let seen: (() => void) | undefined;
    const timer = setInterval(() => {
      if (seen && this.#abandonWrite === seen) {
        this.close();
        seen();
      }
      seen = this.#abandonWrite;
    }, STALLED_MS);
    Deno.unrefTimer(timer);
  }

  write(content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    // Keeps the order even when the caller does not await the previous write.
    this.#lastWrite = this.#lastWrite.catch(() => {}).then(() => this.#writeAll(bytes));
    return this.#lastWrite;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    try {
      for (let offset = 0; offset < bytes.length && !this.closed.aborted;) {
        const { promise: abandoned, resolve } = Promise.withResolvers<number>();
        this.#abandonWrite = () => resolve(0);
        offset += await Promise.race([this.#stream.write(bytes.subarray(offset)), abandoned]);
        this.#abandonWrite = undefined;
      }
    } catch (error) {
      this.#abandonWrite = undefined;
      // A write to a terminal fails only when it has been closed.
      const isClosed = this.isTerminal || error instanceof Deno.errors.BrokenPipe;
      if (this.#mayFail && !isClosed) throw toWriteError(error);
      this.close();
    }
  }
}

function toWriteError(cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Cannot write to standard output: ${reason}`, { cause });
}

function getTerminalSize(): { readonly columns: number; readonly rows: number } | undefined {
  try {
    return Deno.consoleSize();
  } catch {
    return undefined;
  }
}
