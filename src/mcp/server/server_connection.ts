/**
 * A server: starts it, keeps the list of its tools, and starts it again when it ends.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { createDeferred, type Deferred } from "../../core/deferred.ts";
import { AbortedError, NetworkError } from "../../core/errors.ts";
import { isJsonEqual } from "../../core/json_equal.ts";
import type { Clock } from "../../core/ports.ts";
import { redact } from "../../core/redact.ts";
import type { ResolvedServer } from "../config/config.ts";
import type { McpServerState, McpServerStatus } from "../config/options.ts";
import type { ServerTool } from "../protocol/server_lists.ts";
import { openSession, type SessionDependencies } from "./open_session.ts";
import { describeFailure, type ListMethod, type Session } from "./session.ts";

/** Options for {@linkcode ServerConnection}. */
export interface ServerConnectionOptions
  extends Omit<SessionDependencies, "onListChange" | "onAuthorizing"> {
  /** Called when the state or the tools change. */
  readonly onChange: () => void;
}

/** Pause before the first restart; each further one takes twice as long. */
const RESTART_MS = 1_000;
const MAX_RESTART_MS = 60_000;
/** Number of failures after which a server is started again only on demand. */
const MAX_FAILURES = 6;
/** Time after which a server that ends counts as one that had worked. */
const STABLE_MS = 60_000;
/** Minimum time between two requests for the list of tools. */
const REFRESH_MS = 1_000;
/** Maximum time that a call waits for a server that is not ready. */
const CALL_WAIT_MS = 15_000;

/** The end of an attempt to start the server. */
interface Attempt {
  readonly outcome: Deferred<Session | undefined>;
}

/** A server, which is started until it is closed. */
export class ServerConnection {
  readonly name: string;
  readonly #server: ResolvedServer;
  readonly #options: ServerConnectionOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #state: McpServerState = "connecting";
  #tools: readonly ServerTool[] = [];
  #session: Session | undefined;
  #lastSession: Session | undefined;
  #error: string | undefined;
  #attempts = 0;
  #attempt: Attempt = { outcome: createDeferred() };
  #resume = new AbortController();
  #refreshing: Promise<void> | undefined;
  #isOutdated = false;

  /** Starts the server. */
  constructor(server: ResolvedServer, options: ServerConnectionOptions) {
    this.name = server.name;
    this.#server = server;
    this.#options = options;
    this.#clock = options.clock;
    this.#running = this.#run();
  }

  /** The tools of the server, sorted by name; those of the previous start while it is started again. */
  get tools(): readonly ServerTool[] {
    return this.#tools;
  }

  /** The state for the program. */
  get status(): Omit<McpServerStatus, "tools"> {
    const session = this.#session ?? this.#lastSession;
    const { protocolVersion, serverInfo, instructions } = session ?? {};
    return {
      name: this.name,
      state: this.#state,
      restarts: Math.max(0, this.#attempts - 1),
      ...(this.#error !== undefined && { error: this.#error }),
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(serverInfo && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
      ...(instructions !== undefined && { instructions }),
    };
  }

  /** Resolves when the first attempt to start the server has succeeded or failed. */
  readonly settled: Promise<unknown> = this.#attempt.outcome.promise;

  /** Timeout of a tool call in milliseconds. */
  get timeoutMs(): number | undefined {
    return this.#server.timeoutMs;
  }

  /** Starts the server again, without a pause. Resolves when that has succeeded or failed. */
  async restart(): Promise<void> {
    const { promise } = this.#attempt.outcome;
    this.#resume.abort();
    await this.#session?.close();
    await promise;
  }

  /**
   * Returns the session of a server that is ready. Starts one that waits to be started again.
   *
   * @throws {NetworkError} If the server does not become ready.
   */
  async getSession(signal: AbortSignal): Promise<Session> {
    if (this.#session) return this.#session;
    if (this.#closing.signal.aborted) throw new AbortedError("The connection was closed");
    const { promise } = this.#attempt.outcome;
    if (this.#state === "waiting" || this.#state === "failed") this.#resume.abort();
    const timer = new AbortController();
    const timeout = this.#clock.sleep(CALL_WAIT_MS, timer.signal).then(() => undefined);
    try {
      const session = await abortable(Promise.race([promise, timeout]), signal);
      if (session) return session;
    } finally {
      timer.abort();
    }
    throw new NetworkError(`The MCP server "${this.name}" is not available. Try again later`);
  }

  /** Ends the server. */
  async close(): Promise<void> {
    this.#closing.abort(new AbortedError("The connection was closed"));
    this.#resume.abort();
    await this.#running;
  }

  /** Starts the server again and again until it is closed. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = this.#clock.now();
      this.#attempts++;
      const failure = await this.#serve();
      if (signal.aborted) break;
      this.#error = redact(failure, this.#server.secrets);
      failures = this.#clock.now() - startedAt > STABLE_MS ? 1 : failures + 1;
      await this.#pause(failures);
    }
    this.#setState("closed");
    this.#attempt.outcome.resolve(undefined);
  }

  /** Connects to the server and waits until the connection ends; returns the reason. */
  async #serve(): Promise<string> {
    const { signal } = this.#closing;
    const { outcome } = this.#attempt;
    this.#setState("connecting");
    let session: Session | undefined;
    try {
      session = await openSession(this.#server, {
        ...this.#options,
        onListChange: (method) => this.#onListChange(method),
        onAuthorizing: (isWaiting) => this.#setState(isWaiting ? "authorizing" : "connecting"),
      }, signal);
      this.#updateTools(await session.list("tools/list", signal));
    } catch (error) {
      await session?.close();
      this.#attempt = { outcome: createDeferred() };
      outcome.resolve(undefined);
      return describeFailure(error);
    }
    this.#error = undefined;
    this.#session = this.#lastSession = session;
    this.#attempt = { outcome: createDeferred() };
    this.#setState("ready");
    outcome.resolve(session);
    return await this.#waitForEnd(session);
  }

  async #waitForEnd(session: Session): Promise<string> {
    const { signal } = this.#closing;
    const closed = abortable(session.closed, signal).catch(() => "The connection was closed");
    const reason = await closed;
    this.#session = undefined;
    await session.close();
    return reason;
  }

  /** Waits before the next start: longer after each failure, and at last until the server is needed. */
  async #pause(failures: number): Promise<void> {
    const isFailed = failures >= MAX_FAILURES;
    this.#setState(isFailed ? "failed" : "waiting");
    const { signal } = this.#resume;
    const delay = Math.min(RESTART_MS * 2 ** (failures - 1), MAX_RESTART_MS);
    await this.#clock.sleep(isFailed ? Infinity : delay, signal);
    this.#resume = new AbortController();
    if (this.#closing.signal.aborted) this.#resume.abort();
  }

  #onListChange(method: ListMethod): void {
    if (method !== "tools/list") return;
    this.#isOutdated = true;
    this.#refreshing ??= this.#refresh().finally(() => this.#refreshing = undefined);
  }

  /** Reads the list of tools again, also if it changes meanwhile. Never rejects. */
  async #refresh(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#isOutdated && !signal.aborted) {
      this.#isOutdated = false;
      const session = this.#session;
      if (!session) return; // The next start reads it.
      try {
        this.#updateTools(await session.list("tools/list", signal));
      } catch (error) {
        this.#options.report(`changed its tools, but did not list them: ${describeFailure(error)}`);
      }
      await this.#clock.sleep(REFRESH_MS, signal);
    }
  }

  /** Sets the tools. One that has not changed stays the same object. */
  #updateTools(items: readonly unknown[]): void {
    const known = new Map(this.#tools.map((tool) => [tool.name, tool]));
    const tools = new Map<string, ServerTool>();
    for (const tool of items as readonly ServerTool[]) { // repaired by the transport
      if (tools.has(tool.name)) {
        this.#options.report(`lists the tool ${JSON.stringify(tool.name)} twice`);
        continue;
      }
      const previous = known.get(tool.name);
      tools.set(tool.name, previous && isJsonEqual(previous, tool) ? previous : tool);
    }
    const sorted = [...tools.values()].sort((left, right) => left.name < right.name ? -1 : 1);
    const isSame = sorted.length === this.#tools.length &&
      sorted.every((tool, index) => tool === this.#tools[index]);
    if (isSame) return;
    this.#tools = sorted;
    if (this.#state === "ready") this.#options.onChange();
  }

  #setState(state: McpServerState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onChange();
  }
}
