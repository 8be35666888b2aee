/**
 * A server for tests, in this process: plain JSON-RPC, without a library of the protocol, so that it can break every rule.
 *
 * @module
 */

import * as clientPackage from "@modelcontextprotocol/client";
import type {
  ProcessLaunch,
  ProcessSpawner,
  ProcessStatus,
  SpawnedProcess,
} from "../../src/core/ports/process_spawner.ts";
import { LineSplitter } from "../../src/core/text/line_splitter.ts";
import { connectMcp, type McpConnection, type McpOptions } from "../../src/mcp/mod.ts";

/** A JSON-RPC message from the client. */
export interface MockMessage {
  readonly id?: string | number;
  readonly method: string;
  // deno-lint-ignore no-explicit-any -- a test knows the parameters that it reads
  readonly params?: any;
}

/** Answers a request with a result; `undefined` does not answer it. */
export type MockHandler = (message: MockMessage, program: MockProcess) => unknown;

/** Options for {@linkcode MockServer}. */
export interface MockServerOptions {
  /** The tools, which may be anything. Default: one that echoes its argument `text`. */
  readonly tools?: readonly unknown[];
  /** Handlers by method, in place of the default ones. */
  readonly handlers?: Readonly<Record<string, MockHandler>>;
  /** Called when the program starts. */
  readonly onStart?: (program: MockProcess) => void;
}

const ECHO_TOOL = {
  name: "echo",
  description: "Returns a text",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

/** A program that can be started any number of times. */
export class MockServer implements ProcessSpawner {
  /** The tools, which a test may replace. */
  tools: readonly unknown[];
  /** All programs that were started. */
  readonly processes: MockProcess[] = [];
  readonly #options: MockServerOptions;

  constructor(options: MockServerOptions = {}) {
    this.#options = options;
    this.tools = options.tools ?? [ECHO_TOOL];
  }

  spawn(launch: ProcessLaunch): Promise<SpawnedProcess> {
    const process: MockProcess = new MockProcess(
      launch,
      (message) => this.#answer(message, process),
    );
    this.processes.push(process);
    this.#options.onStart?.(process);
    return Promise.resolve(process);
  }

  /** The program that was started last. */
  get process(): MockProcess {
    const process = this.processes.at(-1);
    if (!process) throw new Error("The server was not started");
    return process;
  }

  /** Names of all methods that the client called or notified. */
  get methods(): string[] {
    return this.processes.flatMap(({ received }) => received.map(({ method }) => method));
  }

  #answer(message: MockMessage, process: MockProcess): unknown {
    const handler = this.#options.handlers?.[message.method] ?? this.#getDefault(message.method);
    return handler?.(message, process);
  }

  #getDefault(method: string): MockHandler | undefined {
    switch (method) {
      case "initialize":
        return () => ({
          protocolVersion: "2025-11-25",
          capabilities: {
            tools: { listChanged: true },
            prompts: {},
            resources: {},
          },
          serverInfo: { name: "mock", version: "1" },
        });
      case "tools/list":
        return () => ({ tools: this.tools });
      case "tools/call":
        return ({ params }) => ({ content: [{ type: "text", text: params.arguments.text }] });
      case "server/discover":
        return ({ id }, process) => {
          process.send({ id, error: { code: -32601, message: "Method not found" } });
        };
    }
  }
}

/** A started program. */
export class MockProcess implements SpawnedProcess {
  readonly launch: ProcessLaunch;
  readonly received: MockMessage[] = [];
  readonly stdin: WritableStream<Uint8Array<ArrayBuffer>>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessStatus>;
  readonly #exit = Promise.withResolvers<ProcessStatus>();
  #stdout!: ReadableStreamDefaultController<Uint8Array>;
  #stderr!: ReadableStreamDefaultController<Uint8Array>;
  #hasExited = false;

  constructor(launch: ProcessLaunch, answer: (message: MockMessage) => unknown) {
    const splitter = new LineSplitter();
    this.launch = launch;
    this.exited = this.#exit.promise;
    this.stdout = new ReadableStream({ start: (controller) => void (this.#stdout = controller) });
    this.stderr = new ReadableStream({ start: (controller) => void (this.#stderr = controller) });
    this.stdin = new WritableStream({
      write: (bytes) => {
        for (const line of splitter.push(new TextDecoder().decode(bytes))) {
          void this.#receive(JSON.parse(line), answer);
        }
      },
      close: () => this.exit(0),
    });
  }

  /** Writes a message to the standard output. */
  send(message: object): void {
    this.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  /** Writes a text to the standard output. */
  write(text: string): void {
    if (!this.#hasExited) this.#stdout.enqueue(new TextEncoder().encode(text));
  }

  /** Writes a text to the standard error. */
  log(text: string): void {
    if (!this.#hasExited) this.#stderr.enqueue(new TextEncoder().encode(text));
  }

  /** Whether the program has ended. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Ends the program. */
  exit(code: number, signal: string | null = null): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    for (const controller of [this.#stdout, this.#stderr]) {
      try {
        controller.close();
      } catch {
        // The client has cancelled the stream.
      }
    }
    this.#exit.resolve({ code, signal });
  }

  terminate(): Promise<void> {
    this.exit(143, "SIGTERM");
    return Promise.resolve();
  }

  async #receive(message: MockMessage, answer: (message: MockMessage) => unknown): Promise<void> {
    this.received.push(message);
    const result = await answer(message);
    if (message.id !== undefined && result !== undefined) this.send({ id: message.id, result });
  }
}

/** Connects to a server, which is called `mock`. */
export function connectMock(
  server: ProcessSpawner,
  options: McpOptions = {},
): Promise<McpConnection> {
  return connectMcp({ mcpServers: { mock: { command: "mock-program" } } }, {
    sandbox: server,
    clientPackage,
    ...options,
  });
}
