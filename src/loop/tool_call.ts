/**
 * One running tool call: ended by its result, its failure, its timeout or its cancellation, whichever is first.
 *
 * @module
 */

import { type AgentError, getErrorMessage, ToolTimeoutError } from "../core/errors.ts";
import { cloneJson } from "../core/json.ts";
import {
  type AgentToolResult,
  errorResult,
  textResult,
  type ToolContext,
  type ToolUpdate,
} from "../core/tool.ts";
import { GRACE_MS } from "./cancellation.ts";
import type { ReadyCall } from "./prepared_call.ts";
import type { RunContext } from "./run_context.ts";

/** How many updates of a call may wait; beyond that the newest takes the place of the one before. */
const MAX_PENDING_UPDATES = 128;

/** A tool call from its start to its end. */
export class ToolCall {
  /** Settles when the call has ended, also when the tool has not. Never rejects. */
  readonly settled: Promise<AgentToolResult>;
  readonly #run: RunContext;
  readonly #call: ReadyCall;
  #controller: AbortController | undefined;
  #timer: AbortController | undefined;
  #settle: (result: AgentToolResult) => void = () => {};
  #state: "waiting" | "running" | "cancelled" | "ended" = "waiting";
  #cancellation: { readonly result: AgentToolResult; readonly reason: AgentError } | undefined;
  #updates: ToolUpdate[] = [];
  #emittingUpdates: Promise<void> | undefined;

  /** Makes a call that waits for {@linkcode start}. */
  constructor(run: RunContext, ready: ReadyCall) {
    this.#run = run;
    this.#call = ready;
    this.settled = new Promise((resolve) => this.#settle = resolve);
  }

  /** The call that is run. */
  get call(): ReadyCall {
    return this.#call;
  }

  /** Whether the tool has begun. */
  get started(): boolean {
    return this.#state !== "waiting";
  }

  /** Lets the tool begin, unless the call was cancelled before. */
  start(): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    this.#startTimeout();
    void this.#execute().then((result) => this.#finish(result));
  }

  /**
   * Cancels the call, whose result says why from now on. The tool's signal fires with the reason; the tool is left
   * behind if it has not settled after {@linkcode GRACE_MS}.
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

  /** Copies what goes to the tool and what comes from it, so that it can change neither history nor events. */
  async #execute(): Promise<AgentToolResult> {
    const { tool, arguments: args } = this.#call;
    try {
      const result = await tool.execute(cloneJson(args), this.#createContext());
      return typeof result === "string" ? textResult(result) : normalizeResult(cloneJson(result));
    } catch (thrown) {
      return errorResult(getErrorMessage(thrown) || "The tool failed without saying why");
    }
  }

  /** The signal is made when a tool asks for it: most tools do not, and it is the dearest part of a call. */
  #createContext(): ToolContext {
    const signalOf = () => this.#getSignal();
    return {
      toolCallId: this.#call.block.id,
      idempotencyKey: `${this.#run.runId}:${this.#call.block.id}`,
      onUpdate: (update) => this.#queueUpdate(update),
      get signal(): AbortSignal {
        return signalOf();
      },
    };
  }

  #getSignal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#state !== "running") this.#controller.abort(this.#cancellation?.reason);
    return this.#controller.signal;
  }

  #startTimeout(): void {
    const limit = this.#call.tool.timeoutMs ?? this.#run.config.toolTimeoutMs;
    if (limit === undefined || !Number.isFinite(limit)) return;
    const timer = this.#timer = new AbortController();
    void this.#run.config.sleep(limit, timer.signal).then(() => {
      if (this.#state !== "running" || timer.signal.aborted) return;
      const text = `The tool "${this.#call.tool.name}" timed out after ${limit} ms`;
      this.cancel(new ToolTimeoutError(text));
    });
  }

  /** Takes a partial result; shown in a later task, so that a burst costs the tool nothing. */
  #queueUpdate(update: ToolUpdate): void {
    if (this.#state !== "running") return;
    if (this.#updates.length >= MAX_PENDING_UPDATES) this.#updates.pop();
    this.#updates.push(cloneJson(update));
    this.#emittingUpdates ??= Promise.resolve().then(() => this.#emitUpdates());
  }

  async #emitUpdates(): Promise<void> {
    const { id } = this.#call.block;
    for (let update = this.#updates.shift(); update !== undefined; update = this.#updates.shift()) {
      if (this.#state === "ended") break;
      await this.#run.emit({ type: "tool_execution_update", id, update });
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

/** A tool written without types may leave out what the model needs. */
function normalizeResult(result: AgentToolResult | undefined): AgentToolResult {
  if (!result) return { content: [] };
  return Array.isArray(result.content) ? result : { ...result, content: [] };
}
