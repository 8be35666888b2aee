/**
 * One connection to a server, from its start until it ends.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { createDeferred } from "../../core/deferred.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { MAX_TIMER_MS } from "../../core/ports.ts";
import { settlesWithin } from "../../platform/process_group.ts";
import type { ProtocolClient, ProtocolProgress } from "../protocol/client_package.ts";
import type { ServerTool, ServerToolResult } from "../protocol/server_lists.ts";

/** Time limit of a request other than a tool call, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Maximum number of pages of a list. */
const MAX_PAGES = 100;
/** Maximum number of items of a list; the others are ignored. */
const MAX_ITEMS = 1_000;
/** Maximum time for ending a session, in milliseconds. */
const CLOSE_MS = 1_000;

/** The lists of a server. */
export type ListMethod = "tools/list" | "prompts/list" | "resources/list";

/** A tool call. */
export interface ToolCall {
  readonly tool: ServerTool;
  readonly arguments: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ProtocolProgress) => void;
}

/** Options for {@linkcode Session}. */
export interface SessionOptions {
  /** A connected client. */
  readonly client: ProtocolClient;
  /** Ends the session on the server. */
  readonly terminate: () => Promise<void>;
  /** The reason why the connection ended, if it is known. */
  readonly getFailure: () => string | undefined;
  /** Called when a list of the server has changed. */
  readonly onListChange: (method: ListMethod) => void;
}

/** A connection to a server. */
export class Session {
  /** Resolves with the reason when the connection has ended. */
  readonly closed: Promise<string>;
  readonly #options: SessionOptions;
  #isClosed = false;

  /** Wraps a client that is connected. */
  constructor(options: SessionOptions) {
    const { client, getFailure } = options;
    const closed = createDeferred<string>();
    this.#options = options;
    this.closed = closed.promise;
    client.onclose = () => {
      this.#isClosed = true;
      closed.resolve(getFailure() ?? "The server closed the connection");
    };
    this.#observeLists();
  }

  /** Whether the connection has ended. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The version of the protocol that was negotiated. */
  get protocolVersion(): string | undefined {
    return this.#options.client.getNegotiatedProtocolVersion();
  }

  /** Name and version as the server reports them. */
  get serverInfo(): { readonly name: string; readonly version: string } | undefined {
    return this.#options.client.getServerVersion();
  }

  /** Instructions of the server for the model. */
  get instructions(): string | undefined {
    return this.#options.client.getInstructions();
  }

  /** Returns the items of a list; none if the server does not have the list. */
  async list(method: ListMethod, signal: AbortSignal): Promise<readonly unknown[]> {
    const [kind = ""] = method.split("/");
    if (!this.#options.client.getServerCapabilities()?.[kind]) return [];
    const items: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS; page++) {
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const { [kind]: list, nextCursor } = await this.request(method, params, signal);
      if (Array.isArray(list)) items.push(...list.slice(0, MAX_ITEMS - items.length));
      if (typeof nextCursor !== "string" || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return items;
  }

  /** Sends a request. */
  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const result = await sendCancellable(signal, (signal) => {
      const options = { signal, timeout: REQUEST_TIMEOUT_MS };
      return this.#options.client.request({ method, params }, options);
    });
    return isJsonObject(result) ? result : {};
  }

  /** Calls a tool. The abort of the signal is reported to the server, and rejects with its reason. */
  async callTool(call: ToolCall): Promise<ServerToolResult> {
    const { tool, arguments: args, onProgress } = call;
    const result = await sendCancellable(
      call.signal,
      (signal) =>
        this.#options.client.callTool({ name: tool.name, arguments: args }, {
          signal,
          // The loop limits the time of a call.
          timeout: MAX_TIMER_MS,
          onprogress: onProgress,
          toolDefinition: tool,
        }),
    );
    return result as ServerToolResult; // repaired, and checked by the client
  }

  /** Ends the session on the server, and the connection. */
  async close(): Promise<void> {
    const { client, terminate } = this.#options;
    if (!this.#isClosed) await settlesWithin(CLOSE_MS, terminate().catch(() => {}));
    await client.close().catch(() => {});
  }

  /**
   * Servers of the first protocol versions report changes at any time; those since 2026-07-28 to subscribers. A
   * subscription that the server ends is not repeated.
   */
  #observeLists(): void {
    const { client, onListChange } = this.#options;
    const capabilities = client.getServerCapabilities() ?? {};
    const filter: Record<string, unknown> = {};
    for (const kind of ["tools", "prompts", "resources"] as const) {
      const { [kind]: list } = capabilities;
      if (!isJsonObject(list) || list["listChanged"] !== true) continue;
      filter[`${kind}ListChanged`] = true;
      client.setNotificationHandler(
        `notifications/${kind}/list_changed`,
        () => onListChange(`${kind}/list`),
      );
    }
    if (client.getProtocolEra() !== "modern" || Object.keys(filter).length === 0) return;
    client.listen(filter, { timeout: REQUEST_TIMEOUT_MS }).catch(() => {});
  }
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
