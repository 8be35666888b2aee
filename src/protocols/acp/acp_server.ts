/**
 * The sessions of one connection of the Agent Client Protocol.
 *
 * @module
 */

import {
  AgentError,
  BadRequestError,
  getErrorMessage,
  SessionError,
} from "../../core/errors/errors.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { AcpAuthMethod, AcpHost, AcpSession } from "./acp_host.ts";
import type { AcpConfigOption } from "./acp_update.ts";
import { toUserMessage } from "./content.ts";
import { type ClientCapabilities, type OpenSession, SessionChannel } from "./open_session.ts";
import type { AcpApp, AcpIncoming, AcpPackage, AcpPeer } from "./sdk_package.ts";

/** Version of the protocol. */
const PROTOCOL_VERSION = 1;

/** Codes of JSON-RPC and of the protocol. */
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

/** Maximum time for closing the sessions. */
const CLOSE_MS = 5_000;

/** Maximum number of open sessions of a client. */
const MAX_SESSIONS = 100;

/** Options for {@linkcode AcpServer}. */
export interface AcpServerOptions {
  /** The package of the protocol. */
  readonly sdk: Pick<AcpPackage, "RequestError">;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Returns the client for messages of version 1. Default: it uses that version. */
  readonly wrapPeer?: ((peer: AcpPeer) => AcpPeer) | undefined;
}

/** The modes and the settings of a session that was opened. */
export interface OpenedSession {
  readonly modes: object | undefined;
  readonly configOptions?: AcpConfigOption[];
}

/** The sessions of one connection. */
export class AcpServer {
  readonly #host: AcpHost;
  readonly #options: AcpServerOptions;
  readonly #sessions = new Map<string, OpenSession>();
  /** Sessions that are being opened or closed. */
  readonly #changes = new Set<Promise<unknown>>();
  /** The last opening, closing or deletion of each session that has not ended. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #capabilities: ClientCapabilities = {};
  #isClosed = false;

  constructor(host: AcpHost, options: AcpServerOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Adds the handlers of the protocol. */
  register(app: AcpApp): void {
    const { openSession, listSessions, deleteSession } = this.#host;
    const on = (method: string, handler: (context: AcpIncoming) => unknown) =>
      app.onRequest(method, (context) => this.answer(() => handler(context)));
    on("initialize", (context) => this.#initialize(context));
    on("authenticate", () => ({}));
    on("session/new", (context) => this.track(this.createSession(context)));
    on("session/prompt", (context) => this.#prompt(context));
    on("session/set_mode", ({ params }) => this.#setMode(params));
    on("session/set_config_option", ({ params }) => this.setConfigOption(params));
    on("session/close", ({ params }) => this.closeSession(params.sessionId));
    if (openSession) {
      const open = (context: AcpIncoming, withHistory: boolean) =>
        this.track(this.openSession(context, { withHistory }));
      on("session/load", (context) => open(context, true));
      on("session/resume", (context) => open(context, false));
    }
    if (listSessions) on("session/list", ({ params }) => this.listSessions(params));
    if (deleteSession) on("session/delete", ({ params }) => this.deleteSession(params.sessionId));
    app.onNotification("session/cancel", ({ params }) => this.cancel(params.sessionId));
  }

  /** Returns a page of the saved sessions. */
  async listSessions(
    { cwd, cursor }: { readonly cwd?: string | null; readonly cursor?: string | null },
  ): Promise<object> {
    const filter = { ...(cwd && { cwd }), ...(cursor && { cursor }) };
    const page = await this.#host.listSessions?.(filter);
    return { sessions: [...page?.sessions ?? []], nextCursor: page?.nextCursor };
  }

  /** Closes and deletes a session. The protocol asks for success also if there is none. */
  deleteSession(sessionId: string): Promise<object> {
    return this.#inTurn(sessionId, async () => {
      await this.#closeNow(sessionId);
      try {
        await this.#host.deleteSession?.(sessionId);
      } catch (error) {
        if (!(error instanceof SessionError && error.reason === "not_found")) throw error;
      }
      return {};
    });
  }

  /** Ends the prompt of a session, if one runs. */
  cancel(sessionId: string): void {
    this.#sessions.get(sessionId)?.cancel();
  }

  /** Ends all runs and sessions, also those that are still being opened. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const sessions = [...this.#sessions.keys()];
    const closed = Promise.allSettled([
      ...sessions.map((id) => this.closeSession(id)),
      ...this.#changes,
    ]);
    // A session that is opened later is closed at once.
    const wait = new AbortController();
    await Promise.race([closed, realSleep(CLOSE_MS, wait.signal)]);
    wait.abort();
  }

  #initialize({ params }: AcpIncoming) {
    this.#capabilities = params.clientCapabilities ?? {};
    const { name, version, openSession, listSessions, deleteSession, authMethods = [] } =
      this.#host;
    const hasTerminal = this.#capabilities.auth?.terminal === true;
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
      authMethods: authMethods.map((method) => toAuthMethod(method, hasTerminal)),
    };
  }

  /** Creates a session, and returns its id with its modes and settings. */
  async createSession(
    context: AcpIncoming,
  ): Promise<OpenedSession & { readonly sessionId: string }> {
    this.#checkLimit();
    const channel = this.#createChannel(context);
    const session = await this.#host.createSession(this.#toRequest(context, channel));
    const state = await this.#show(channel, session);
    this.#announceCommands(session);
    return { sessionId: session.id, ...state };
  }

  /** Opens a session, and sends its history if the client wants it. */
  openSession(
    context: AcpIncoming,
    options: { readonly withHistory: boolean },
  ): Promise<OpenedSession> {
    return this.#inTurn(context.params.sessionId, () => this.#openNow(context, options));
  }

  async #openNow(
    context: AcpIncoming,
    { withHistory }: { readonly withHistory: boolean },
  ): Promise<OpenedSession> {
    const { sessionId } = context.params;
    if (!this.#sessions.has(sessionId)) this.#checkLimit();
    await this.#closeNow(sessionId);
    const channel = this.#createChannel(context);
    const request = { ...this.#toRequest(context, channel), sessionId };
    const session = await this.#host.openSession?.(request);
    if (!session) throw this.createError(NOT_FOUND, `There is no session ${sessionId}`);
    const state = await this.#show(channel, session);
    if (withHistory) await this.#sessions.get(session.id)?.sendHistory();
    this.#announceCommands(session);
    return state;
  }

  /** Does something with a session when what was asked for it before has been done: only then is it free. */
  async #inTurn<Result>(sessionId: string, work: () => Promise<Result>): Promise<Result> {
    const previous = this.#turns.get(sessionId);
    const turn = previous ? previous.then(work, work) : work();
    this.#turns.set(sessionId, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(sessionId) === turn) this.#turns.delete(sessionId);
    }
  }

  /** Remembers work that must have ended before the server has closed. */
  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#changes.add(work);
    try {
      return await work;
    } finally {
      this.#changes.delete(work);
    }
  }

  #checkLimit(): void {
    if (this.#sessions.size + this.#changes.size < MAX_SESSIONS) return;
    throw new BadRequestError(`At most ${MAX_SESSIONS} sessions can be open: close one first`);
  }

  #createChannel({ params, client: peer }: AcpIncoming): SessionChannel {
    const { closed, wrapPeer = (peer) => peer } = this.#options;
    const connection = { peer: wrapPeer(peer), capabilities: this.#capabilities, closed };
    return new SessionChannel(connection, params.cwd);
  }

  #toRequest({ params }: AcpIncoming, { client }: SessionChannel) {
    const { cwd, mcpServers = [], additionalDirectories = [] } = params;
    return { cwd, mcpServers, additionalDirectories, client };
  }

  /** Sends the commands when the client has the answer to the current request. */
  #announceCommands({ id, commands }: AcpSession): void {
    if (commands) this.afterAnswer(async () => await this.#sessions.get(id)?.sendCommands());
  }

  /** Opens a session, and returns its modes and settings. */
  async #show(channel: SessionChannel, session: AcpSession): Promise<OpenedSession> {
    const open = channel.open(session);
    if (this.#isClosed || this.#sessions.has(session.id)) {
      await open.close();
      throw this.createError(INTERNAL_ERROR, `The session ${session.id} cannot be opened`);
    }
    this.#sessions.set(session.id, open);
    const configOptions = session.config?.options();
    return { modes: open.modes, ...(configOptions && { configOptions: [...configOptions] }) };
  }

  /** Sends something when the answer to the current request has been sent, which takes no other turn of the event loop. */
  afterAnswer(send: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      send().catch(() => {});
    }, 0);
    this.#timers.add(timer);
  }

  async #prompt({ params, signal }: AcpIncoming) {
    const session = this.find(params.sessionId);
    const message = toUserMessage(params.prompt, this.#options.now());
    const end = await session.prompt(message, { signal });
    switch (end.type) {
      case "ended":
        return { stopReason: end.stopReason };
      case "failed":
        throw this.createError(getFailureCode(end.code), end.message, { code: end.code });
    }
  }

  async #setMode({ sessionId, modeId }: { sessionId: string; modeId: string }) {
    const open = this.find(sessionId);
    const { modes } = open.session;
    if (!modes?.available.some(({ id }) => id === modeId)) {
      throw this.createError(INVALID_PARAMS, `There is no mode ${modeId}`);
    }
    await modes.select(modeId);
    this.afterAnswer(() => open.sendSettings());
    return {};
  }

  /** Sets a setting, and returns all of them. */
  async setConfigOption(
    { sessionId, configId, value }: { sessionId: string; configId: string; value: unknown },
  ): Promise<{ configOptions: AcpConfigOption[] }> {
    const open = this.find(sessionId);
    const { config, modes } = open.session;
    const option = config?.options().find(({ id }) => id === configId);
    if (!config || !option?.options.some((choice) => choice.value === value)) {
      const text = `There is no setting ${configId} with the value ${String(value)}`;
      throw this.createError(INVALID_PARAMS, text);
    }
    const mode = modes?.current();
    await config.select(configId, String(value));
    if (modes?.current() !== mode) this.afterAnswer(() => open.sendSettings());
    return { configOptions: [...config.options()] };
  }

  /** Closes a session, if it is open. */
  closeSession(sessionId: string): Promise<object> {
    return this.#inTurn(sessionId, () => this.#closeNow(sessionId));
  }

  async #closeNow(sessionId: string): Promise<object> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    if (session) await this.track(session.close());
    return {};
  }

  /** Returns an open session. Throws the error of the protocol if there is none. */
  find(sessionId: string): OpenSession {
    const session = this.#sessions.get(sessionId);
    if (!session) throw this.createError(NOT_FOUND, `The session ${sessionId} is not open`);
    return session;
  }

  /** Answers with the reason of a failure. */
  async answer(handle: () => unknown): Promise<unknown> {
    try {
      return await handle();
    } catch (thrown) {
      if (thrown instanceof this.#options.sdk.RequestError) throw thrown;
      throw this.createError(getErrorCode(thrown), getErrorMessage(thrown), getErrorData(thrown));
    }
  }

  /** Creates an error of the protocol. */
  createError(code: number, message: string, data?: object): Error {
    return new this.#options.sdk.RequestError(code, message, data);
  }
}

function getErrorCode(thrown: unknown): number {
  if (!AgentError.is(thrown)) return INTERNAL_ERROR;
  return thrown.code === "auth_error" ? AUTH_REQUIRED : INVALID_PARAMS;
}

/** Returns the code of JSON-RPC for the code of an error of a run. */
export function getFailureCode(code: string): number {
  return code === "auth_error" ? AUTH_REQUIRED : INTERNAL_ERROR;
}

function getErrorData(thrown: unknown): object | undefined {
  return AgentError.is(thrown) ? { code: thrown.code } : undefined;
}

/** Returns a method in the form of the protocol; a client without a terminal shows only its description. */
function toAuthMethod(
  { id, name, description, terminalArguments }: AcpAuthMethod,
  hasTerminal: boolean,
): object {
  const method = { id, name, ...(description !== undefined && { description }) };
  if (!terminalArguments || !hasTerminal) return method;
  return { ...method, type: "terminal", args: [...terminalArguments] };
}
