/**
 * Where the program reads and writes; nothing else touches standard input and output.
 *
 * @module
 */

/** A direction in which text goes out. */
export interface Output {
  /** Whether a person may be looking at it. */
  readonly isTerminal: boolean;
  /** Fires when the reader has gone away; whatever is written after that is dropped. */
  readonly closed: AbortSignal;
  /**
   * Writes all of it.
   *
   * Rejects when what was asked for cannot be written, for another reason than a reader that has gone away.
   */
  write(content: string | Uint8Array): Promise<void>;
}

/** Where text comes from. */
export interface Input {
  /** Whether a person may be typing. */
  readonly isTerminal: boolean;
  /** The bytes; nothing is read before somebody reads this. */
  readonly bytes: ReadableStream<Uint8Array>;
}

/** The three standard streams, and how wide a line is. */
export interface Terminal {
  /** Standard input. */
  readonly input: Input;
  /** Standard output: what was asked for. */
  readonly output: Output;
  /** Standard error: everything else. */
  readonly messages: Output;
  /** Columns of the terminal; 80 when there is none. */
  readonly columns: number;
}

/** The terminal of this process. */
export function createDenoTerminal(): Terminal {
  return {
    input: {
      isTerminal: Deno.stdin.isTerminal(),
      get bytes() {
        return Deno.stdin.readable;
      },
    },
    output: new DenoOutput(Deno.stdout, { mayFail: true }),
    // A message about a message that cannot be written helps nobody.
    messages: new DenoOutput(Deno.stderr, { mayFail: false }),
    get columns() {
      return getTerminalColumns() ?? 80;
    },
  };
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
    // One after the other, also when nobody waits in between.
    this.#lastWrite = this.#lastWrite.catch(() => {}).then(() => this.#writeAll(bytes));
    return this.#lastWrite;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length && !this.closed.aborted;) {
        at += await this.#stream.write(bytes.subarray(at));
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
