/**
 * Serves the Agent Client Protocol.
 *
 * @module
 */

import { AgentError, BadRequestError, getErrorMessage } from "../../core/errors.ts";
import type { AcpHost, AcpSession } from "./acp_host.ts";
import { toUserMessage } from "./content.ts";
import { type ClientCapabilities, type OpenSession, SessionChannel } from "./open_session.ts";
import { type AcpApp, type AcpIncoming, type AcpPackage, importAcpPackage } from "./sdk_package.ts";

/** Options for {@linkcode serveAcp}. */
export interface ServeAcpOptions {
  /** Messages from the client: lines of JSON, such as standard input. */
  readonly input: ReadableStream<Uint8Array>;
  /** Messages to the client, such as standard output, to which nothing else may be written. */
  readonly output: WritableStream<Uint8Array>;
  /** Ends the connection. Default: it ends with the input. */
  readonly signal?: AbortSignal | undefined;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** The npm package `@agentclientprotocol/sdk`, for bundles. Default: imported by the first call. */
  readonly sdk?: AcpPackage | undefined;
}

/** Version of the protocol. */
const PROTOCOL_VERSION = 1;

/** Codes of JSON-RPC and of the protocol. */
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

/**
 * Serves a client of the Agent Client Protocol, version 1, such as an editor, until it closes the connection. Runs that are
 * active then are aborted, and all sessions are closed.
 *
 * @throws {BadRequestError} If the package `@agentclientprotocol/sdk` is not installed.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { serveAcp } from "@swink/agent/acp";
 *
 * await serveAcp({
 *   name: "helper",
 *   version: "1.0.0",
 *   createSession: async ({ client }) => ({
 *     id: crypto.randomUUID(),
 *     agent: new Agent({ model: "anthropic/claude-sonnet-5-5", tools, approve: client.ask }),
 *   }),
 * }, { input: Deno.stdin.readable, output: Deno.stdout.writable });
 * ```
 */
export async function serveAcp(host: AcpHost, options: ServeAcpOptions): Promise<void> {
  const { input, output, signal, now = Date.now, sdk = await importAcpPackage() } = options;
  const server = new AcpServer(host, sdk, now);
  const app = sdk.agent({ name: host.name }) as AcpApp;
  server.register(app);
  const connection = app.connect(sdk.ndJsonStream(output, input) as never);
  const close = () => connection.close();
  signal?.addEventListener("abort", close, { once: true });
  if (signal?.aborted) close();
  try {
    await connection.closed;
  } finally {
    signal?.removeEventListener("abort", close);
    await server.close();
  }
}

/** The sessions of one connection. */
class AcpServer {
  readonly #host: AcpHost;
  readonly #sdk: AcpPackage;
  readonly #now: () => number;
  readonly #sessions = new Map<string, OpenSession>();
  #capabilities: ClientCapabilities = {};

  constructor(host: AcpHost, sdk: AcpPackage, now: () => number) {
    this.#host = host;
    this.#sdk = sdk;
    this.#now = now;
  }

  /** Adds the handlers of the protocol. */
  register(app: AcpApp): void {
    const { openSession, listSessions, deleteSession } = this.#host;
    const on = (method: string, handler: (context: AcpIncoming) => unknown) =>
      app.onRequest(method, (context) => this.#answer(() => handler(context)));
    on("initialize", (context) => this.#initialize(context));
    on("authenticate", () => ({}));
    on("session/new", (context) => this.#createSession(context));
    on("session/prompt", (context) => this.#prompt(context));
    on("session/set_mode", ({ params }) => this.#setMode(params));
    on("session/set_config_option", ({ params }) => this.#setConfigOption(params));
    on("session/close", ({ params }) => this.#closeSession(params.sessionId));
    if (openSession) {
      on("session/load", (context) => this.#openSession(context, { withHistory: true }));
      on("session/resume", (context) => this.#openSession(context, { withHistory: false }));
    }
    if (listSessions) {
      on("session/list", async ({ params: { cwd, cursor } }) => {
        const page = await listSessions({ ...(cwd && { cwd }), ...(cursor && { cursor }) });
        return { sessions: [...page.sessions], nextCursor: page.nextCursor };
      });
    }
    if (deleteSession) {
      on("session/delete", async ({ params: { sessionId } }) => {
        await this.#closeSession(sessionId);
        await deleteSession(sessionId);
        return {};
      });
    }
    app.onNotification("session/cancel", ({ params }) => {
      this.#sessions.get(params.sessionId)?.cancel();
    });
  }

  /** Ends all runs and sessions. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }

  #initialize({ params }: AcpIncoming) {
    this.#capabilities = params.clientCapabilities ?? {};
    const { name, version, openSession, listSessions, deleteSession } = this.#host;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name, version },
      agentCapabilities: {
        loadSession: openSession !== undefined,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: {
          close: {},
          additionalDirectories: {},
          ...(openSession && { resume: {} }),
          ...(listSessions && { list: {} }),
          ...(deleteSession && { delete: {} }),
        },
      },
      authMethods: [],
    };
  }

  async #createSession(context: AcpIncoming) {
    const channel = this.#createChannel(context);
    const session = await this.#host.createSession(this.#toRequest(context, channel));
    return { sessionId: session.id, ...await this.#show(channel, session) };
  }

  async #openSession(
    context: AcpIncoming,
    { withHistory }: { readonly withHistory: boolean },
  ): Promise<object> {
    const { sessionId } = context.params;
    await this.#closeSession(sessionId);
    const channel = this.#createChannel(context);
    const request = { ...this.#toRequest(context, channel), sessionId };
    const session = await this.#host.openSession?.(request);
    if (!session) throw this.#createError(NOT_FOUND, `There is no session ${sessionId}`);
    const state = await this.#show(channel, session);
    if (withHistory) await this.#sessions.get(session.id)?.sendHistory();
    return state;
  }

  #createChannel({ params, client }: AcpIncoming): SessionChannel {
    return new SessionChannel(client, this.#capabilities, params.cwd);
  }

  #toRequest({ params }: AcpIncoming, { client }: SessionChannel) {
    const { cwd, mcpServers = [], additionalDirectories = [] } = params;
    return { cwd, mcpServers, additionalDirectories, client };
  }

  /** Opens a session, and returns its modes and settings. The client learns of the commands when it has the answer. */
  #show(channel: SessionChannel, session: AcpSession): object {
    const open = channel.open(session);
    this.#sessions.set(session.id, open);
    if (session.commands) queueMicrotask(() => void open.sendState().catch(() => {}));
    const configOptions = session.config?.options();
    return { modes: open.modes, ...(configOptions && { configOptions: [...configOptions] }) };
  }

  async #prompt({ params, signal }: AcpIncoming) {
    const session = this.#find(params.sessionId);
    const end = await session.prompt(toUserMessage(params.prompt, this.#now()), signal);
    switch (end.type) {
      case "ended":
        return { stopReason: end.stopReason };
      case "failed": {
        const code = end.code === "auth_error" ? AUTH_REQUIRED : INTERNAL_ERROR;
        throw this.#createError(code, end.message, { code: end.code });
      }
    }
  }

  async #setMode({ sessionId, modeId }: { sessionId: string; modeId: string }) {
    const { session: { modes } } = this.#find(sessionId);
    if (!modes?.available.some(({ id }) => id === modeId)) {
      throw this.#createError(INVALID_PARAMS, `There is no mode ${modeId}`);
    }
    await modes.select(modeId);
    return {};
  }

  async #setConfigOption(
    { sessionId, configId, value }: { sessionId: string; configId: string; value: unknown },
  ) {
    const { session: { config } } = this.#find(sessionId);
    const option = config?.options().find(({ id }) => id === configId);
    if (!config || !option?.options.some((choice) => choice.value === value)) {
      const text = `There is no setting ${configId} with the value ${String(value)}`;
      throw this.#createError(INVALID_PARAMS, text);
    }
    await config.select(configId, String(value));
    return { configOptions: [...config.options()] };
  }

  async #closeSession(sessionId: string): Promise<object> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
    return {};
  }

  #find(sessionId: string): OpenSession {
    const session = this.#sessions.get(sessionId);
    if (!session) throw this.#createError(NOT_FOUND, `The session ${sessionId} is not open`);
    return session;
  }

  /** Answers with the reason of a failure. */
  async #answer(handle: () => unknown): Promise<unknown> {
    try {
      return await handle();
    } catch (thrown) {
      if (thrown instanceof this.#sdk.RequestError) throw thrown;
      const isInvalid = thrown instanceof BadRequestError || AgentError.is(thrown);
      throw this.#createError(isInvalid ? INVALID_PARAMS : INTERNAL_ERROR, getErrorMessage(thrown));
    }
  }

  #createError(code: number, message: string, data?: object): Error {
    return new this.#sdk.RequestError(code, message, data);
  }
}
