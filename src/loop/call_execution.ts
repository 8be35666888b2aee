/**
 * Executes one tool call, until it returns, fails, times out or is cancelled.
 *
 * @module
 */

import { type AgentError, getErrorMessage, ToolTimeoutError } from "../core/errors.ts";
import { cloneJson, type JsonObject } from "../core/json.ts";
import {
  type AgentToolResult,
  errorResult,
  textResult,
  type ToolContext,
  type ToolUpdate,
} from "../core/tool.ts";
import { GRACE_MS } from "./cancellation.ts";
import type { ReadyCall } from "./prepared_call.ts";
import type { RunServices } from "./run_services.ts";

/** Maximum number of undelivered updates of a call; above it, a new update replaces the last one. */
const MAX_PENDING_UPDATES = 128;

/** Runs one tool call. */
export class CallExecution {
  /** Resolves when the call has ended, even if the tool has not settled. Never rejects. */
  readonly settled: Promise<AgentToolResult>;
  /** The call. */
  readonly call: ReadyCall;
  readonly #run: RunServices;
  #controller: AbortController | undefined;
  #timer: AbortController | undefined;
  #settle: (result: AgentToolResult) => void = () => {};
  #state: "waiting" | "running" | "cancelled" | "ended" = "waiting";
  #cancellation: { readonly result: AgentToolResult; readonly reason: AgentError } | undefined;
  #updates: ToolUpdate[] = [];
  #emittingUpdates: Promise<void> | undefined;

  /** Creates an execution that waits for {@linkcode CallExecution.start}. */
  constructor(run: RunServices, call: ReadyCall) {
    this.#run = run;
    this.call = call;
    this.settled = new Promise((resolve) => this.#settle = resolve);
  }

  /** Whether the tool was started, or the call was cancelled before it started. */
  get started(): boolean {
    return this.#state !== "waiting";
  }

  /** Starts the tool, unless the call was already cancelled. */
  start(): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    this.#startTimeout();
    void this.#execute().then((result) => this.#finish(result));
  }

  /**
   * Cancels the call; its result is an error with the message of `reason`. Aborts the tool's signal, and waits for the
   * tool to settle for at most {@linkcode GRACE_MS}.
   */
  cancel(reason: AgentError): void {
    if (this.#state === "ended" || this.#state === "cancelled") return;
    const result = errorResult(reason.message);
    if (this.#state === "waiting") return this.#end(result);
    this.#state = "cancelled";
    this.#cancellation = { result, reason };
    this.#controller?.abort(reason);
    this.#timer?.abort();
    const grace = this.#timer = new AbortController();
    void this.#run.config.sleep(GRACE_MS, grace.signal).then(() => this.#end(result));
  }

  /**
   * Runs the tool on copies of the arguments and copies its result, so that it can change neither history nor events.
   */
  async #execute(): Promise<AgentToolResult> {
    const { tool, arguments: args, input } = this.call;
    try {
      // The output of `validate` is the tool's own, and may be more than JSON.
      const owned = input === args ? cloneJson(args) : input as JsonObject;
      const result = await tool.execute(owned, this.#createContext());
      return typeof result === "string" ? textResult(result) : normalizeResult(cloneJson(result));
    } catch (thrown) {
      return errorResult(getErrorMessage(thrown) || "The tool failed without a message");
    }
  }

  /** Creates the context. Its signal, the most expensive part of a call, is created when the tool first reads it. */
  #createContext(): ToolContext {
    const getSignal = () => this.#getSignal();
    return {
      toolCallId: this.call.block.id,
      idempotencyKey: `${this.#run.runId}:${this.call.block.id}`,
      onUpdate: (update) => this.#queueUpdate(update),
      get signal(): AbortSignal {
        return getSignal();
      },
    };
  }

  #getSignal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#state !== "running") this.#controller.abort(this.#cancellation?.reason);
    return this.#controller.signal;
  }

  #startTimeout(): void {
    const { tool } = this.call;
    const limit = tool.timeoutMs ?? this.#run.config.toolTimeoutMs;
    if (limit === undefined || !Number.isFinite(limit)) return;
    const timer = this.#timer = new AbortController();
    void this.#run.config.sleep(limit, timer.signal).then(() => {
      if (this.#state !== "running" || timer.signal.aborted) return;
      this.cancel(new ToolTimeoutError(`The tool "${tool.name}" timed out after ${limit} ms`));
    });
  }

  /** Queues an update; it is emitted in a later microtask, so that `onUpdate()` returns immediately. */
  #queueUpdate(update: ToolUpdate): void {
    if (this.#state !== "running") return;
    if (this.#updates.length >= MAX_PENDING_UPDATES) this.#updates.pop();
    this.#updates.push(cloneJson(update));
    this.#emittingUpdates ??= Promise.resolve().then(() => this.#emitUpdates());
  }

  async #emitUpdates(): Promise<void> {
    const { id } = this.call.block;
    for (let update = this.#updates.shift(); update !== undefined; update = this.#updates.shift()) {
      if (this.#state === "ended") break;
      await this.#run.events.emit({ type: "tool_execution_update", id, update });
    }
    this.#emittingUpdates = undefined;
  }

  async #finish(result: AgentToolResult): Promise<void> {
    if (this.#emittingUpdates && this.#state === "running") await this.#emittingUpdates;
    this.#end(this.#cancellation?.result ?? result);
  }

  #end(result: AgentToolResult): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#timer?.abort();
    this.#settle(result);
  }
}

/** Adds the `content` that an untyped tool may omit. */
function normalizeResult(result: AgentToolResult | undefined): AgentToolResult {
  if (!result) return { content: [] };
  return Array.isArray(result.content) ? result : { ...result, content: [] };
}
