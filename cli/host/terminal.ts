/**
 * Standard input, output and error. Other modules use them only through this interface.
 *
 * @module
 */

/** An output stream. */
export interface Output {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /** Aborted when a write found the stream closed by its reader; later writes are dropped. */
  readonly closed: AbortSignal;
  /** Writes all of the content. Standard output rejects when a write fails, except for a closed stream. */
  write(content: string | Uint8Array): Promise<void>;
}

/** An input stream. */
export interface Input {
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  /** The bytes. Not opened before this is read. */
  readonly bytes: ReadableStream<Uint8Array>;
  /** Switches a terminal from lines to keys, which arrive at once and are not shown, or back. Ctrl+C remains a signal. */
  setRaw(isRaw: boolean): void;
}

/** The standard streams and the width of the terminal. */
export interface Terminal {
  /** Standard input. */
  readonly input: Input;
  /** Standard output: the result. */
  readonly output: Output;
  /** Standard error: progress, warnings and errors. */
  readonly messages: Output;
  /** Columns of the terminal; 80 without a terminal. */
  readonly columns: number;
}

/** Creates the terminal of this process. */
export function createDenoTerminal(): Terminal {
  return {
    input: {
      isTerminal: Deno.stdin.isTerminal(),
      get bytes() {
        return Deno.stdin.readable;
      },
      setRaw(isRaw) {
        if (isRaw) enterRawMode();
        else Deno.stdin.setRaw(false);
        if (isWindows()) return;
        // A shell sets its own mode before it continues a stopped program.
        if (isRaw) Deno.addSignalListener("SIGCONT", enterRawMode);
        else Deno.removeSignalListener("SIGCONT", enterRawMode);
      },
    },
    output: new DenoOutput(Deno.stdout, { mayFail: true }),
    // A failure to write a message cannot be reported.
    messages: new DenoOutput(Deno.stderr, { mayFail: false }),
    get columns() {
      return getTerminalColumns() ?? 80;
    },
  };
}

function enterRawMode(): void {
  // Without `cbreak`, which Windows does not support, Ctrl+C would not send a signal.
  Deno.stdin.setRaw(true, { cbreak: !isWindows() });
}

function isWindows(): boolean {
  return Deno.build.os === "windows";
}

class DenoOutput implements Output {
  readonly #stream: typeof Deno.stdout;
  readonly #mayFail: boolean;
  readonly #closing = new AbortController();
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(stream: typeof Deno.stdout, { mayFail }: { readonly mayFail: boolean }) {
    this.#stream = stream;
    this.#mayFail = mayFail;
  }

  get isTerminal(): boolean {
    return this.#stream.isTerminal();
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
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
        offset += await this.#stream.write(bytes.subarray(offset));
      }
    } catch (error) {
      if (this.#mayFail && !(error instanceof Deno.errors.BrokenPipe)) throw error;
      this.#closing.abort();
    }
  }
}

function getTerminalColumns(): number | undefined {
  try {
    return Deno.consoleSize().columns || undefined;
  } catch {
    return undefined;
  }
}
