/**
 * A client of the protocol for tests: that of the package, connected by streams in this process.
 *
 * @module
 */

import * as sdk from "@agentclientprotocol/sdk";
import { type AcpHost, serveAcp } from "../../src/protocols/acp/mod.ts";

/** Options for {@linkcode connectClient}. */
export interface TestClientOptions {
  /** Answers a request for a permission. Default: selects `once`. */
  readonly onPermission?: (
    request: sdk.RequestPermissionRequest,
  ) => Promise<sdk.RequestPermissionResponse> | sdk.RequestPermissionResponse;
  /** Files of the editor by path. Default: the editor offers no files. */
  readonly files?: Map<string, string>;
}

/** A connected client. */
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
  /** Resolves when the server has ended. */
  readonly served: Promise<void>;
  /** Creates a session and returns its id. */
  createSession(): Promise<string>;
  /** Sends a prompt. */
  prompt(sessionId: string, text: string): Promise<sdk.PromptResponse>;
  /** Closes the connection. */
  close(): void;
}

/** A pipe that ends as standard input does when the other program exits. */
class Pipe {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isEnded = false;
  readonly readable = new ReadableStream<Uint8Array>({
    start: (controller) => void (this.#controller = controller),
    cancel: () => void (this.#isEnded = true),
  });
  readonly writable = new WritableStream<Uint8Array>({
    write: (chunk) => void (this.#isEnded || this.#controller?.enqueue(chunk)),
  });

  end(): void {
    if (!this.#isEnded) this.#controller?.close();
    this.#isEnded = true;
  }
}

/** Connects a client to a host, and initializes the connection. */
export async function connectClient(
  host: AcpHost,
  { onPermission, files }: TestClientOptions = {},
): Promise<TestClient> {
  const toAgent = new Pipe();
  const toClient = new Pipe();
  const served = serveAcp(host, { input: toAgent.readable, output: toClient.writable });
  const updates: sdk.SessionUpdate[] = [];
  const listeners = new Set<() => void>();
  const permissions: sdk.RequestPermissionRequest[] = [];
  const app = sdk.client({ name: "test" })
    .onNotification("session/update", ({ params }) => {
      updates.push(params.update);
      for (const listener of listeners) listener();
    })
    .onRequest("session/request_permission", async ({ params }) => {
      permissions.push(params);
      return await onPermission?.(params) ??
        { outcome: { outcome: "selected", optionId: "once" } };
    })
    .onRequest("fs/read_text_file", ({ params }) => ({ content: files?.get(params.path) ?? "" }))
    .onRequest("fs/write_text_file", ({ params }) => {
      files?.set(params.path, params.content);
      return {};
    });
  const connection = app.connect(sdk.ndJsonStream(toAgent.writable, toClient.readable));
  const { agent } = connection;
  const hasFiles = files !== undefined;
  await agent.request("initialize", {
    protocolVersion: sdk.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: hasFiles, writeTextFile: hasFiles } },
  });
  const close = () => {
    connection.close();
    toAgent.end();
  };
  return {
    agent,
    updates,
    permissions,
    served,
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
      const session = await agent.request("session/new", { cwd: "/work", mcpServers: [] });
      return session.sessionId;
    },
    prompt: (sessionId, text) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    close,
    async [Symbol.asyncDispose]() {
      close();
      await served;
    },
  };
}
