/**
 * A client of the protocol for tests: that of the package, connected by streams in this process.
 *
 * @module
 */

import * as sdk from "@agentclientprotocol/sdk";
import { type AcpHost, serveAcp } from "../../src/protocols/acp/mod.ts";
import { MessageChecker } from "./message_checker.ts";

/** Options for {@linkcode connectClient}. */
export interface TestClientOptions {
  /** Answers a request for a permission. Default: selects `once`. */
  readonly onPermission?: (
    request: sdk.RequestPermissionRequest,
  ) => Promise<sdk.RequestPermissionResponse> | sdk.RequestPermissionResponse;
  /** Files of the editor by path. Default: the editor offers no files. */
  readonly files?: Map<string, string>;
  /** Called when the editor writes a file. Default: it is written to `files` only. */
  readonly onWrite?: (path: string, content: string) => void;
  /** Runs commands in terminals of the editor. Default: the editor offers no terminals. */
  readonly terminals?: TestTerminals;
  /** Whether the editor can start the program in a terminal, to log in. Default: `false`. */
  readonly canLogIn?: boolean;
  /** Working directory of sessions. Default: `/work`. */
  readonly cwd?: string;
}

/** The terminals of the editor. */
export interface TestTerminals {
  /** Starts a command; returns the id of its terminal. */
  readonly create: (request: sdk.CreateTerminalRequest) => string;
  /** Returns the output of a terminal. */
  readonly output: (terminalId: string) => sdk.TerminalOutputResponse;
  /** Resolves at the end of a command. */
  readonly waitForExit: (terminalId: string) => Promise<sdk.WaitForTerminalExitResponse>;
  /** Called for `kill` and `release`. */
  readonly onEnd: (method: "kill" | "release", terminalId: string) => void;
}

/** A connected client. Its disposal rejects if a message of the server does not conform to the schema of the protocol. */
export interface TestClient extends AsyncDisposable {
  /** The agent. */
  readonly agent: sdk.ClientContext;
  /** The updates that have arrived. */
  readonly updates: sdk.SessionUpdate[];
  /** Resolves with the first update of a kind, also if it has arrived already. */
  untilUpdate<Kind extends sdk.SessionUpdate["sessionUpdate"]>(
    kind: Kind,
  ): Promise<Extract<sdk.SessionUpdate, { sessionUpdate: Kind }>>;
  /** The requests for permissions that have arrived. */
  readonly permissions: sdk.RequestPermissionRequest[];
  /** Ids of the next answers to requests for permissions, if `onPermission` is missing. Default: `once`. */
  readonly answers: string[];
  /** The answer to `initialize`. */
  readonly initialized: sdk.InitializeResponse;
  /** Resolves when the server has ended. */
  readonly served: Promise<unknown>;
  /** Creates a session and returns its id. */
  createSession(): Promise<string>;
  /** Sends a prompt. */
  prompt(sessionId: string, text: string): Promise<sdk.PromptResponse>;
  /** Closes the connection. */
  close(): void;
}

/** A pipe that ends as standard input does when the other program exits. */
class Pipe {
  readonly #onChunk: (chunk: Uint8Array) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isEnded = false;

  constructor(onChunk: (chunk: Uint8Array) => void) {
    this.#onChunk = onChunk;
  }

  readonly readable = new ReadableStream<Uint8Array>({
    start: (controller) => void (this.#controller = controller),
    cancel: () => void (this.#isEnded = true),
  });
  readonly writable = new WritableStream<Uint8Array>({
    write: (chunk) => {
      this.#onChunk(chunk);
      if (!this.#isEnded) this.#controller?.enqueue(chunk);
    },
  });

  end(): void {
    if (!this.#isEnded) this.#controller?.close();
    this.#isEnded = true;
  }
}

/** The streams of a server. */
export interface ServerStreams {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
}

/** Connects a client to a host, and initializes the connection. */
export async function connectClient(
  host: AcpHost,
  options: TestClientOptions = {},
): Promise<TestClient> {
  return await connectToServer((streams) => serveAcp(host, streams), options);
}

/** Connects a client to a server, and initializes the connection. */
export async function connectToServer(
  serve: (streams: ServerStreams) => Promise<unknown>,
  { onPermission, files, onWrite, terminals, canLogIn = false, cwd = "/work" }: TestClientOptions =
    {},
): Promise<TestClient> {
  const checker = new MessageChecker();
  const toAgent = new Pipe((chunk) => checker.read("client", chunk));
  const toClient = new Pipe((chunk) => checker.read("server", chunk));
  const served = serve({ input: toAgent.readable, output: toClient.writable });
  const updates: sdk.SessionUpdate[] = [];
  const listeners = new Set<() => void>();
  const permissions: sdk.RequestPermissionRequest[] = [];
  const answers: string[] = [];
  const app = sdk.client({ name: "test" })
    .onNotification("session/update", ({ params }) => {
      updates.push(params.update);
      for (const listener of listeners) listener();
    })
    .onRequest("session/request_permission", async ({ params }) => {
      permissions.push(params);
      return await onPermission?.(params) ??
        { outcome: { outcome: "selected", optionId: answers.shift() ?? "once" } };
    })
    .onRequest("fs/read_text_file", ({ params }) => {
      const content = files?.get(params.path);
      if (content === undefined) throw new Error("not open");
      return { content };
    })
    .onRequest("fs/write_text_file", ({ params }) => {
      files?.set(params.path, params.content);
      onWrite?.(params.path, params.content);
      return {};
    });
  if (terminals) {
    app.onRequest("terminal/create", ({ params }) => ({ terminalId: terminals.create(params) }))
      .onRequest("terminal/output", ({ params }) => terminals.output(params.terminalId))
      .onRequest(
        "terminal/wait_for_exit",
        ({ params }) => terminals.waitForExit(params.terminalId),
      )
      .onRequest("terminal/kill", ({ params }) => {
        terminals.onEnd("kill", params.terminalId);
        return {};
      })
      .onRequest("terminal/release", ({ params }) => {
        terminals.onEnd("release", params.terminalId);
        return {};
      });
  }
  const connection = app.connect(sdk.ndJsonStream(toAgent.writable, toClient.readable));
  const { agent } = connection;
  const hasFiles = files !== undefined;
  const initialized = await agent.request("initialize", {
    protocolVersion: sdk.PROTOCOL_VERSION,
    clientCapabilities: {
      fs: { readTextFile: hasFiles, writeTextFile: hasFiles },
      terminal: terminals !== undefined,
      auth: { terminal: canLogIn },
    },
  });
  const close = () => {
    connection.close();
    toAgent.end();
  };
  return {
    agent,
    updates,
    permissions,
    answers,
    served,
    initialized,
    untilUpdate: (kind) =>
      new Promise((resolve) => {
        const listener = () => {
          const found = updates.find(({ sessionUpdate }) => sessionUpdate === kind);
          if (!found) return;
          listeners.delete(listener);
          resolve(found as never);
        };
        listeners.add(listener);
        listener();
      }),
    async createSession() {
      const session = await agent.request("session/new", { cwd, mcpServers: [] });
      return session.sessionId;
    },
    prompt: (sessionId, text) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    close,
    async [Symbol.asyncDispose]() {
      close();
      await served;
      await checker.check();
    },
  };
}
