/**
 * The transport to a server that is a program: one JSON-RPC message per line.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type {
  ProcessLaunch,
  ProcessSpawner,
  SpawnedProcess,
} from "../../core/ports/process_spawner.ts";
import { LineSplitter } from "../../core/text/line_splitter.ts";
import { settlesWithin } from "../../platform/process_group.ts";
import type { ClientTransport, ProtocolMessage } from "../protocol/client_package.ts";
import { repairMessage, type ReportProblem } from "../protocol/repair_message.ts";
import { MessageRate } from "./message_rate.ts";
import { OutputTail } from "./output_tail.ts";

/** Options for {@linkcode StdioTransport}. */
export interface StdioTransportOptions {
  /** Starts the program. */
  readonly spawner: ProcessSpawner;
  /** The program. */
  readonly launch: ProcessLaunch;
  /** Maximum number of bytes of a message. */
  readonly maxMessageBytes: number;
  /** Called with problems of messages. */
  readonly report: ReportProblem;
  readonly clock: Clock;
}

/** Maximum number of bytes that wait to be read by the server. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024;
/** Time that a server has to end by itself after its input was closed. */
const EXIT_MS = 500;
/** Time between SIGTERM and SIGKILL. */
const TERMINATE_MS = 500;
/** Maximum time to read the remaining output after the end, in case another process holds the pipe open. */
const DRAIN_MS = 200;

/** A connection to a program. */
export class StdioTransport implements ClientTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: ProtocolMessage) => void;
  // The client recognizes a connection to a program by these two properties.
  readonly pid = null;
  readonly stderr = null;

  readonly #options: StdioTransportOptions;
  readonly #rate: MessageRate;
  readonly #diagnostics = new OutputTail();
  readonly #stopping = new AbortController();
  readonly #stopped = createDeferred();
  #process: SpawnedProcess | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>> | undefined;
  #pendingBytes = 0;
  #reason: string | undefined;
  #isOffline = false;

  /** Creates a transport; does not start the program. */
  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#rate = new MessageRate(options.clock);
  }

  /** The reason why the connection ended by itself, and the end of the diagnostic output. */
  get failure(): string | undefined {
    const { text } = this.#diagnostics;
    if (this.#reason === undefined) return undefined;
    const failure = `The server ${this.#reason}`;
    return text === "" ? failure : `${failure}; its last output:\n${text}`;
  }

  /** Whether the program cannot reach other machines. */
  get isOffline(): boolean {
    return this.#isOffline;
  }

  /** Starts the program. */
  async start(): Promise<void> {
    const { spawner, launch } = this.#options;
    this.#isOffline = await spawner.isOffline?.() === true;
    const process = await spawner.spawn(launch);
    this.#process = process;
    this.#writer = process.stdin.getWriter();
    this.#writer.closed.catch(() => {}); // each write reports it
    void this.#run(process);
    if (this.#stopping.signal.aborted) await this.close();
  }

  /** Sends a message. Rejects if the server does not read. */
  async send(message: ProtocolMessage): Promise<void> {
    const line = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    if (!this.#writer || this.#stopping.signal.aborted) throw new Error("Not connected");
    this.#pendingBytes += line.length;
    if (this.#pendingBytes > MAX_PENDING_BYTES) this.#stop("does not read its input");
    try {
      await this.#writer.write(line);
    } catch (error) {
      await this.#stopUnlessExited(`closed its input (${getErrorMessage(error)})`);
      await this.#stopped.promise; // Then the reason is known.
      throw error;
    } finally {
      this.#pendingBytes -= line.length;
    }
  }

  /** Ends the program, and waits until it has ended. */
  async close(): Promise<void> {
    this.#stopping.abort();
    if (this.#process) await this.#stopped.promise;
    else this.onclose?.();
  }

  /** Ends the connection for a reason. */
  #stop(reason: string): void {
    this.#reason ??= reason;
    this.#stopping.abort();
  }

  /** Ends the connection to a program that cannot be used any more; one that is ending states its exit code. */
  async #stopUnlessExited(reason: string): Promise<void> {
    const hasExited = await settlesWithin(DRAIN_MS, this.#process?.exited ?? Promise.resolve());
    if (!hasExited) this.#stop(reason);
  }

  /** Reads the output until the program ends or the connection is closed. Never rejects. */
  async #run(process: SpawnedProcess): Promise<void> {
    const { signal } = this.#stopping;
    const output = process.stdout.getReader();
    const diagnostics = process.stderr.getReader();
    const reading = Promise.all([
      this.#readMessages(output),
      readAll(diagnostics, (chunk) => this.#diagnostics.push(chunk)).catch(() => {}),
    ]);
    const closing = createDeferred();
    signal.addEventListener("abort", () => closing.resolve());
    if (signal.aborted) closing.resolve();
    await Promise.race([process.exited, closing.promise]);
    if (!signal.aborted) {
      const { code } = await process.exited;
      await settlesWithin(DRAIN_MS, reading);
      this.#stop(`ended with exit code ${code}`);
    }
    await this.#endProcess(process);
    await Promise.all([output.cancel().catch(() => {}), diagnostics.cancel().catch(() => {})]);
    await reading;
    this.#stopped.resolve();
    this.onclose?.();
  }

  async #endProcess(process: SpawnedProcess): Promise<void> {
    const closing = this.#writer?.close().catch(() => {}) ?? Promise.resolve();
    await settlesWithin(EXIT_MS, process.exited);
    await process.terminate(TERMINATE_MS).catch(() => {});
    if (!await settlesWithin(DRAIN_MS, closing)) await this.#writer?.abort().catch(() => {});
  }

  async #readMessages(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const { maxMessageBytes } = this.#options;
    const { signal } = this.#stopping;
    const decoder = new TextDecoder();
    const splitter = new LineSplitter();
    try {
      await readAll(reader, async (chunk) => {
        for (const line of splitter.push(decoder.decode(chunk, { stream: true }))) {
          if (signal.aborted) return;
          if (line.length > maxMessageBytes) throw createSizeError(maxMessageBytes);
          this.#receive(line);
          await this.#rate.count(line.length, signal);
        }
        if (splitter.pendingLength > maxMessageBytes) throw createSizeError(maxMessageBytes);
      });
      await this.#stopUnlessExited("closed its output");
    } catch (error) {
      this.#stop(getErrorMessage(error));
    }
  }

  #receive(line: string): void {
    if (line.trim() === "") return;
    const value = parseJsonOrUndefined(line);
    if (value === undefined) {
      this.#diagnostics.append(`${line}\n`);
      this.#options.report("wrote a line to its output that is not JSON");
      return;
    }
    const message = repairMessage(value, this.#options.report);
    if (message) this.onmessage?.(message);
  }
}

function createSizeError(maxBytes: number): RangeError {
  return new RangeError(`sent a line of more than ${maxBytes} bytes`);
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    await onChunk(value);
  }
}
