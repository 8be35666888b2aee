/**
 * A server: starts it, keeps the list of its tools, and starts it again when it ends.
 *
 * @module
 */

import {
  AbortedError,
  AuthError,
  BadRequestError,
  NetworkError,
} from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { redact } from "../../core/text/redact.ts";
import {
  getSecrets,
  type NamedServer,
  type ResolvedServer,
  resolveServer,
} from "../config/resolve_server.ts";
import type { McpServerState, McpServerStatus } from "../config/status.ts";
import type { McpClientPackage } from "../protocol/client_package.ts";
import type { ServerTool } from "../protocol/server_lists.ts";
import { describeFailure, describeState } from "./describe_state.ts";
import { openSession, type SessionDependencies } from "./open_session.ts";
import type { PeerDetails, Session } from "./session.ts";
import { ToolList } from "./tool_list.ts";

/** Options for {@linkcode ServerConnection}. */
export interface ServerConnectionOptions
  extends Omit<SessionDependencies, "name" | "clientPackage" | "onToolsChange" | "onAuthorizing"> {
  readonly loadClientPackage: () => Promise<McpClientPackage>;
  /** Called when the state or the tools have changed. */
  readonly onChange: () => void;
}

/** Pause before the first restart; each further one takes twice as long. */
const RESTART_MS = 1_000;
const MAX_RESTART_MS = 60_000;
/** Number of failures after which a server is started again only on demand. */
const MAX_FAILURES = 10;
/** Time after which a server that ends counts as one that had worked. */
const STABLE_MS = 60_000;
/** Maximum time that a call waits for a server that starts. */
const CALL_WAIT_MS = 15_000;

/** A server, which is started again and again until it is closed. */
export class ServerConnection {
  readonly name: string;
  /** Timeout of a tool call in milliseconds. */
  readonly timeoutMs: number;
  readonly #server: NamedServer;
  readonly #options: ServerConnectionOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #state: McpServerState = { type: "starting" };
  readonly #tools: ToolList;
  #session: Session | undefined;
  #peer: PeerDetails = {};
  /** Texts of the configuration that may be secrets. */
  #secrets: readonly string[] = [];
  /** The outcome of the current or next start; `undefined` if it fails. */
  #nextStart = createDeferred<Session | undefined>();
  #starts = 0;
  /** Ends the pause before the next start. */
  #pause = new AbortController();
  /** Ends the current start, also while the user shall authorize this program. */
  #attempt = new AbortController();

  /** Creates a connection to a server that is not started yet. */
  constructor(server: NamedServer, options: ServerConnectionOptions) {
    this.name = server.name;
    this.timeoutMs = server.server.timeoutMs;
    this.#server = server;
    this.#options = options;
    this.#clock = options.clock;
    this.#tools = new ToolList({
      clock: options.clock,
      timeoutMs: options.startTimeoutMs,
      signal: this.#closing.signal,
      report: options.report,
      onChange: options.onChange,
    });
  }

  /** Starts the server, until it is closed. Resolves when the first start has succeeded or failed. */
  async start(): Promise<void> {
    const { promise } = this.#nextStart;
    this.#running = this.#run();
    await promise;
  }

  /** The tools of the server, sorted by name; those of the previous start while it is started again. */
  get tools(): readonly ServerTool[] {
    return this.#tools.tools;
  }

  /** Whether the server runs, and cannot reach other machines. */
  get isOffline(): boolean {
    return this.#session?.isOffline ?? false;
  }

  /** The state for the program. */
  get status(): Omit<McpServerStatus, "tools"> {
    return {
      name: this.name,
      state: this.#state,
      restarts: Math.max(0, this.#starts - 1),
      ...this.#peer,
    };
  }

  /** Attributes of the spans of calls by the conventions of OpenTelemetry, without secrets of the configuration. */
  get traceAttributes(): Readonly<Record<string, string | number>> {
    const { protocolVersion } = this.#peer;
    return {
      "mcp.method.name": "tools/call",
      ...(protocolVersion !== undefined && { "mcp.protocol.version": protocolVersion }),
      ...this.#session?.transportAttributes,
    };
  }

  /** Describes an error, which may have text of the server, without secrets of the configuration. */
  describeFailure(error: unknown): string {
    return describeFailure(error, this.#secrets);
  }

  /** Removes secrets of the configuration from a text. */
  redact(text: string): string {
    return redact(text, this.#secrets);
  }

  /** Starts the server again, without a pause. Resolves when that has succeeded or failed. */
  async restart(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { promise } = this.#nextStart;
    this.#pause.abort();
    this.#attempt.abort(new AbortedError("The server is started again"));
    await this.#session?.close();
    await promise;
  }

  /** Starts the server again, unless that has been done since a session. */
  async restartAfter(session: Session): Promise<void> {
    if (this.#session === session) await this.restart();
  }

  /**
   * Returns the session of a server that is ready, or is so within a short time of its first start.
   *
   * @throws {NetworkError} If there is none. The message has the reason.
   */
  async getSession(signal: AbortSignal): Promise<Session> {
    if (this.#session) return this.#session;
    const { type } = this.#state;
    const session = type === "starting" ? await this.#waitForStart(signal) : undefined;
    if (session) return session;
    throw new NetworkError(`The MCP server "${this.name}" ${describeState(this.#state)}`);
  }

  /** Returns another session in place of one that the server does not know any more. Starts the server again once. */
  async replaceSession(session: Session, signal: AbortSignal): Promise<Session> {
    if (this.#session === session) await abortable(this.restart(), signal);
    else if (!this.#session) await abortable(this.#nextStart.promise, signal);
    return await this.getSession(signal);
  }

  /** Ends the server. */
  async close(): Promise<void> {
    this.#closing.abort(new AbortedError("The connection was closed"));
    this.#pause.abort();
    await this.#running;
  }

  async #waitForStart(signal: AbortSignal): Promise<Session | undefined> {
    const timer = new AbortController();
    const timeout = this.#clock.sleep(CALL_WAIT_MS, timer.signal).then(() => undefined);
    try {
      return await abortable(Promise.race([this.#nextStart.promise, timeout]), signal);
    } finally {
      timer.abort();
    }
  }

  /** Starts the server again and again until it is closed. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const failure = await this.#serve();
      if (signal.aborted) break;
      const { readyMs = 0 } = failure;
      failures = readyMs > STABLE_MS ? 1 : failures + 1;
      await this.#waitForRestart(failure, failures);
    }
    this.#setState({ type: "closed" });
    this.#endStart(undefined);
  }

  /** Starts the server and waits until the connection ends. Never rejects. */
  async #serve(): Promise<Failure> {
    let session: Session | undefined;
    this.#starts++;
    this.#attempt = new AbortController();
    try {
      const server = resolveServer(this.#server, this.#options.environment);
      this.#secrets = getSecrets(server, this.#server, this.#options.environment);
      session = await this.#open(server);
      await this.#readTools(session);
      this.#peer = session.peer;
      this.#setReady(session);
      this.#endStart(session);
      const readyAt = this.#clock.now();
      const reason = redact(await this.#waitForEnd(session), this.#secrets);
      return { reason, readyMs: this.#clock.now() - readyAt, isFinal: false };
    } catch (error) {
      const isFinal = error instanceof BadRequestError || error instanceof AuthError;
      const reason = session?.isClosed
        ? redact(await session.closed, this.#secrets)
        : this.describeFailure(error);
      return { reason, isFinal };
    } finally {
      this.#session = undefined;
      await session?.close();
    }
  }

  /** Reads the list of tools, which a server may refuse though it accepts connections of any program. */
  async #readTools(session: Session): Promise<void> {
    try {
      await this.#tools.read(session);
    } catch (error) {
      if (!session.isRefused) throw error;
      await session.authorize();
      await this.#tools.read(session);
    }
  }

  /** Returns the reason why a session has ended. When the server refuses a call, the user authorizes this program again. */
  async #waitForEnd(session: Session): Promise<string> {
    const { signal } = this.#closing;
    while (true) {
      const reason = await abortable(Promise.race([session.closed, session.refused]), signal);
      if (reason !== undefined) return reason;
      this.#session = undefined;
      await session.authorize();
      this.#setReady(session);
    }
  }

  #setReady(session: Session): void {
    this.#session = session;
    this.#setState({ type: "ready" });
  }

  async #open(server: ResolvedServer): Promise<Session> {
    const state = this.#state;
    return await openSession(server, {
      ...this.#options,
      name: this.name,
      clientPackage: await this.#options.loadClientPackage(),
      onToolsChange: (session) => this.#tools.refresh(session),
      onAuthorizing: (isWaiting) => this.#setState(isWaiting ? { type: "authorizing" } : state),
    }, AbortSignal.any([this.#closing.signal, this.#attempt.signal]));
  }

  /** Reports the outcome of a start; the next outcome is that of the next start. */
  #endStart(session: Session | undefined): void {
    const { resolve } = this.#nextStart;
    this.#nextStart = createDeferred();
    resolve(session);
  }

  /** Waits longer after each failure, and at last until the server is needed. */
  async #waitForRestart(failure: Failure, failures: number): Promise<void> {
    const { reason, readyMs, isFinal } = failure;
    const isFailed = isFinal || failures >= MAX_FAILURES;
    this.#setState({ type: isFailed ? "failed" : "restarting", reason });
    const isRepeated = this.#attempt.signal.aborted;
    if (readyMs === undefined && !isRepeated) this.#endStart(undefined);
    const delay = Math.min(RESTART_MS * 2 ** (failures - 1), MAX_RESTART_MS);
    await this.#clock.sleep(isFailed ? Infinity : delay, this.#pause.signal);
    if (this.#closing.signal.aborted) return;
    this.#pause = new AbortController();
    this.#setState({ type: "restarting", reason });
  }

  #setState(state: McpServerState): void {
    this.#state = state;
    this.#options.onChange();
  }
}

/** The reason why a server does not run. */
interface Failure {
  readonly reason: string;
  /** Time that it was ready before, in milliseconds; missing if it was not. */
  readonly readyMs?: number;
  /** Whether the next start would fail, too. */
  readonly isFinal: boolean;
}
