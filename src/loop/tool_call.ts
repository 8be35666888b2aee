/**
 * One running tool call: ended by its result, its failure, its timeout or its cancellation, whichever is first.
 *
 * @module
 */

import { type AgentError, messageOf, ToolTimeoutError } from "../core/errors.ts";
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
const WAITING_UPDATES = 128;

/** A tool call from its start to its end. */
export class ToolCall {
  /** Settles when the call has ended, also when the tool has not. Never rejects. */
  readonly ended: Promise<AgentToolResult>;
  readonly #run: RunContext;
  readonly #ready: ReadyCall;
  #controller: AbortController | undefined;
  #timer: AbortController | undefined;
  #settle: (result: AgentToolResult) => void = () => {};
  #state: "waiting" | "running" | "cancelled" | "ended" = "waiting";
  #cancelled: { readonly result: AgentToolResult; readonly reason: AgentError } | undefined;
  #updates: ToolUpdate[] = [];
  #showing: Promise<void> | undefined;

  /** Makes a call that waits for {@linkcode start}. */
  constructor(run: RunContext, ready: ReadyCall) {
    this.#run = run;
    this.#ready = ready;
    this.ended = new Promise((resolve) => this.#settle = resolve);
  }

  /** The call that is run. */
  get ready(): ReadyCall {
    return this.#ready;
  }

  /** Whether the tool has begun. */
  get started(): boolean {
    return this.#state !== "waiting";
  }

  /** Lets the tool begin, unless the call was cancelled before. */
  start(): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    this.#limitTime();
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
    this.#cancelled = { result, reason };
    this.#controller?.abort(reason);
    this.#timer?.abort();
    const grace = this.#timer = new AbortController();
    void this.#run.config.sleep(GRACE_MS, grace.signal).then(() => this.#end(result));
  }

  /** Copies what goes to the tool and what comes from it, so that it can change neither history nor events. */
  async #execute(): Promise<AgentToolResult> {
    const { tool, arguments: args } = this.#ready;
    try {
      const result = await tool.execute(cloneJson(args), this.#context());
      return typeof result === "string" ? textResult(result) : normalised(cloneJson(result));
    } catch (thrown) {
      return errorResult(messageOf(thrown) || "The tool failed without saying why");
    }
  }

  /** The signal is made when a tool asks for it: most tools do not, and it is the dearest part of a call. */
  #context(): ToolContext {
    const signalOf = () => this.#signal();
    return {
      toolCallId: this.#ready.block.id,
      idempotencyKey: `${this.#run.runId}:${this.#ready.block.id}`,
      onUpdate: (update) => this.#update(update),
      get signal(): AbortSignal {
        return signalOf();
      },
    };
  }

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#state !== "running") this.#controller.abort(this.#cancelled?.reason);
    return this.#controller.signal;
  }

  #limitTime(): void {
    const limit = this.#ready.tool.timeoutMs ?? this.#run.config.toolTimeoutMs;
    if (limit === undefined || !Number.isFinite(limit)) return;
    const timer = this.#timer = new AbortController();
    void this.#run.config.sleep(limit, timer.signal).then(() => {
      if (this.#state !== "running" || timer.signal.aborted) return;
      const text = `The tool "${this.#ready.tool.name}" timed out after ${limit} ms`;
      this.cancel(new ToolTimeoutError(text));
    });
  }

  /** Takes a partial result; shown in a later task, so that a burst costs the tool nothing. */
  #update(update: ToolUpdate): void {
    if (this.#state !== "running") return;
    if (this.#updates.length >= WAITING_UPDATES) this.#updates.pop();
    this.#updates.push(cloneJson(update));
    this.#showing ??= Promise.resolve().then(() => this.#show());
  }

  async #show(): Promise<void> {
    const { id } = this.#ready.block;
    for (let update = this.#updates.shift(); update !== undefined; update = this.#updates.shift()) {
      if (this.#state === "ended") break;
      await this.#run.emit({ type: "tool_execution_update", id, update });
    }
    this.#showing = undefined;
  }

  async #finish(result: AgentToolResult): Promise<void> {
    if (this.#showing && this.#state === "running") await this.#showing;
    this.#end(this.#cancelled?.result ?? result);
  }

  #end(result: AgentToolResult): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#timer?.abort();
    this.#settle(result);
  }
}

/** A tool written without types may leave out what the model needs. */
function normalised(result: AgentToolResult | undefined): AgentToolResult {
  if (!result) return { content: [] };
  return Array.isArray(result.content) ? result : { ...result, content: [] };
}
