/**
 * One connection to a server, from its start until it ends.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { type Clock, MAX_TIMER_MS } from "../../core/ports/ports.ts";
import { settlesWithin } from "../../platform/process_group.ts";
import type { McpServerStatus } from "../config/status.ts";
import type { ProtocolClient, ProtocolProgress } from "../protocol/client_package.ts";
import type { ServerTool, ServerToolResult } from "../protocol/server_lists.ts";
import type { ActiveRequests, PauseTimeout } from "./active_requests.ts";
import { type ElicitationHandler, showRequiredPages } from "./elicitation.ts";

/** Time limit of a request other than a tool call, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Maximum number of pages of a list. */
const MAX_PAGES = 100;
/** Maximum number of items of a list; the others are ignored. */
const MAX_ITEMS = 1_000;
/** Pause before a subscription that the server has ended is repeated; after repeated failures it takes longer. */
const SUBSCRIPTION_PAUSE_MS = 5_000;
const MAX_SUBSCRIPTION_PAUSE_MS = 60_000;
/** Number of failures after which a server that has never accepted a subscription is not asked again. */
const MAX_SUBSCRIPTION_FAILURES = 5;
/** Maximum number of characters of the name and the version of a server. */
const MAX_NAME = 256;
/** Maximum number of characters of the instructions of a server. */
const MAX_INSTRUCTIONS = 16_384;
/** Maximum number of characters of an error that are read for its reason. */
const MAX_REASON = 1_000;
/** Maximum time for ending a session, in milliseconds. */
const CLOSE_MS = 1_000;

/** The lists of a server. */
export type ListMethod =
  | "tools/list"
  | "prompts/list"
  | "resources/list"
  | "resources/templates/list";

/** The members of the results that have the items. */
const LIST_MEMBERS: Readonly<Record<ListMethod, string>> = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};

/** A tool call. */
export interface ToolCall {
  readonly tool: ServerTool;
  readonly arguments: JsonObject;
  /** Headers of the trace of the call. Default: none. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ProtocolProgress) => void;
  /** Pauses the timeout of the call while the user is asked. Default: it has none. */
  readonly pauseTimeout?: PauseTimeout | undefined;
}

/** Options for {@linkcode Session}. */
export interface SessionOptions {
  /** A connected client. */
  readonly client: ProtocolClient;
  /** Whether the server cannot reach other machines. */
  readonly isOffline: boolean;
  /** The URL of a server that is reached over HTTP. Default: it is a program. */
  readonly endpoint?: URL | undefined;
  /** Returns the id that the server has assigned. Default: it assigns none. */
  readonly getSessionId?: (() => string | undefined) | undefined;
  /** The requests that wait for an answer. */
  readonly requests: ActiveRequests;
  /** Answers requests of the server for data of the user. Default: they are refused. */
  readonly handleElicitation?: ElicitationHandler | undefined;
  /** Ends the session on the server. */
  readonly terminate: () => Promise<void>;
  /** The reason why the connection ended, if it is known. */
  readonly getFailure: () => string | undefined;
  /** Whether the user was sent to the authorization server, because the server has refused a request. */
  readonly isRefused: () => boolean;
  /** Sets the function that is called when the user was sent there. */
  readonly observeRefusal: (listener: () => void) => void;
  /** Sets the function that is called when messages of the server may be lost. */
  readonly observeReopening: (listener: () => void) => void;
  /** Waits until the user has authorized this program. */
  readonly authorize: () => Promise<void>;
  /** Called when the tools of the server have changed. */
  readonly onToolsChange: (session: Session) => void;
  readonly clock: Clock;
}

/** The server as it describes itself. */
export type PeerDetails = Pick<
  McpServerStatus,
  "protocolVersion" | "serverInfo" | "instructions"
>;

/** A connection to a server. */
export class Session {
  /** Resolves with the reason when the connection has ended. */
  readonly closed: Promise<string>;
  readonly #options: SessionOptions;
  readonly #ended = new AbortController();
  #refused = createDeferred<undefined>();

  /** Wraps a client that is connected. */
  constructor(options: SessionOptions) {
    const { client, getFailure, observeRefusal } = options;
    const closed = createDeferred<string>();
    this.#options = options;
    this.closed = closed.promise;
    client.onclose = () => {
      this.#ended.abort();
      closed.resolve(getFailure() ?? "The server closed the connection");
    };
    observeRefusal(() => this.#refused.resolve(undefined));
    this.#observeTools();
  }

  /** Whether the connection has ended. */
  get isClosed(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Whether the user was sent to the authorization server, because the server has refused a request. */
  get isRefused(): boolean {
    return this.#options.isRefused();
  }

  /** Resolves when that has happened. */
  get refused(): Promise<undefined> {
    return this.#refused.promise;
  }

  /** Waits until the user has authorized this program; the session then stays usable. Rejects with an `AuthError`. */
  async authorize(): Promise<void> {
    await this.#options.authorize();
    this.#refused = createDeferred();
  }

  /** Whether the server cannot reach other machines. */
  get isOffline(): boolean {
    return this.#options.isOffline;
  }

  /** Whether the server has assigned an id to the session. */
  get hasId(): boolean {
    return this.#options.getSessionId?.() !== undefined;
  }

  /** Attributes of the connection by the conventions of OpenTelemetry. */
  get transportAttributes(): Readonly<Record<string, string | number>> {
    const { endpoint, getSessionId } = this.#options;
    if (!endpoint) return { "network.transport": "pipe" };
    const { protocol, hostname, port } = endpoint;
    const sessionId = getSessionId?.();
    return {
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": hostname,
      "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
      ...(sessionId !== undefined && { "mcp.session.id": sessionId }),
    };
  }

  /** The server as it describes itself; long texts are cut. */
  get peer(): PeerDetails {
    const { client } = this.#options;
    const protocolVersion = client.getNegotiatedProtocolVersion();
    const { name, version } = client.getServerVersion() ?? {};
    const instructions = client.getInstructions();
    return {
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(name !== undefined && version !== undefined && {
        serverInfo: { name: name.slice(0, MAX_NAME), version: version.slice(0, MAX_NAME) },
      }),
      ...(instructions !== undefined && { instructions: instructions.slice(0, MAX_INSTRUCTIONS) }),
    };
  }

  /** Returns the items of a list; none if the server does not have the list. */
  async list(method: ListMethod, signal: AbortSignal): Promise<readonly unknown[]> {
    const [kind = ""] = method.split("/");
    const { [method]: member } = LIST_MEMBERS;
    if (!this.#options.client.getServerCapabilities()?.[kind]) return [];
    const items: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS; page++) {
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const { [member]: list, nextCursor } = await this.request(method, params, signal);
      if (Array.isArray(list)) items.push(...list.slice(0, MAX_ITEMS - items.length));
      if (typeof nextCursor !== "string" || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return items;
  }

  /** Sends a request. */
  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const result = await this.#send(signal, (signal) => {
      const options = { signal, timeout: REQUEST_TIMEOUT_MS };
      return this.#options.client.request({ method, params }, options);
    });
    return isJsonObject(result) ? result : {};
  }

  /**
   * Calls a tool. The abort of the signal is reported to the server, and rejects with its reason. The client does not get the
   * schema of the structured result: without one, it would drop the content of a call that was executed.
   */
  async callTool(call: ToolCall): Promise<ServerToolResult> {
    const { tool: { outputSchema: _checkedLater, ...tool }, arguments: args, onProgress } = call;
    const { traceHeaders = {} } = call;
    const meta = Object.keys(traceHeaders).length > 0 && { _meta: traceHeaders };
    const result = await this.#send(
      call.signal,
      (signal) =>
        this.#options.client.callTool({ name: tool.name, arguments: args, ...meta }, {
          signal,
          // The loop limits the time of a call.
          timeout: MAX_TIMER_MS,
          onprogress: onProgress,
          toolDefinition: tool,
        }).catch((error) => this.#rejectCall(error, signal)),
      call.pauseTimeout,
    );
    return result as ServerToolResult; // repaired, and checked by the client
  }

  async #rejectCall(error: unknown, signal: AbortSignal): Promise<never> {
    const { handleElicitation } = this.#options;
    throw handleElicitation ? await showRequiredPages(error, handleElicitation, signal) : error;
  }

  #send(
    signal: AbortSignal,
    send: (signal: AbortSignal) => Promise<unknown>,
    pauseTimeout?: PauseTimeout,
  ): Promise<unknown> {
    return this.#options.requests.track(() => sendCancellable(signal, send), pauseTimeout);
  }

  /** Ends the session on the server, and the connection. */
  async close(): Promise<void> {
    const { client, terminate } = this.#options;
    if (!this.isClosed) await settlesWithin(CLOSE_MS, terminate().catch(() => {}));
    await client.close().catch(() => {});
  }

  /** Servers of the first protocol versions report changes at any time; those since 2026-07-28 to subscribers. */
  #observeTools(): void {
    const { client, observeReopening, onToolsChange } = this.#options;
    const { tools } = client.getServerCapabilities() ?? {};
    if (!isJsonObject(tools) || tools["listChanged"] !== true) return;
    client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChange(this));
    observeReopening(() => onToolsChange(this));
    if (client.getProtocolEra() === "modern") void this.#subscribe();
  }

  /**
   * Subscribes to changes, again after a pause when the server ends the subscription or cannot be reached. Changes in the
   * meantime were not reported, so that the list is read again, unless the first attempt succeeds. Never rejects.
   */
  async #subscribe(): Promise<void> {
    const { client, clock, onToolsChange } = this.#options;
    let failures = 0;
    let wasSubscribed = false;
    while (!this.#ended.signal.aborted && (wasSubscribed || failures < MAX_SUBSCRIPTION_FAILURES)) {
      const filter = { toolsListChanged: true };
      const subscription = await client.listen(filter, { timeout: REQUEST_TIMEOUT_MS })
        .catch(() => undefined);
      if (subscription && (wasSubscribed || failures > 0)) onToolsChange(this);
      wasSubscribed ||= subscription !== undefined;
      failures = subscription ? 0 : failures + 1;
      await subscription?.closed;
      const pause = SUBSCRIPTION_PAUSE_MS * 2 ** Math.max(0, failures - 1);
      await clock.sleep(Math.min(pause, MAX_SUBSCRIPTION_PAUSE_MS), this.#ended.signal);
    }
  }
}

/** Matches the reasons of servers that answer with the status 400 instead of 404, as the reference server does. */
const UNKNOWN_SESSION =
  /\bsession[ _-]?id\b|\b(?:invalid|unknown|expired|no)\b.{0,20}\bsession|\bsession\b.{0,40}\b(?:invalid|unknown|expired|terminated|not found|not exist)\b/i;

/** Whether a server over HTTP has rejected a request of a session, because it no longer knows the session. */
export function isSessionUnknown(error: unknown, { hasId }: Pick<Session, "hasId">): boolean {
  if (!(error instanceof Error && "status" in error)) return false;
  return error.status === 404 ||
    error.status === 400 && hasId && UNKNOWN_SESSION.test(error.message.slice(0, MAX_REASON));
}

/**
 * Sends a request and rejects with the reason of the signal when it aborts. The client sends the reason of its signal to
 * the server, so it gets a signal without the data of this program.
 */
async function sendCancellable(
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const controller = new AbortController();
  const onAbort = () => controller.abort("cancelled");
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    return await abortable(send(controller.signal), signal);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
