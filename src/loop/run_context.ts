/**
 * One run while it goes on: what it knows, what it has said so far, and how it speaks.
 *
 * @module
 */

import { CallIds } from "../core/call_ids.ts";
import { extractToolCalls } from "../core/content.ts";
import type { AgentContext } from "../core/context.ts";
import type { AgentError } from "../core/errors.ts";
import type { AgentEventBody } from "../core/event.ts";
import { hasContent, repairHistory } from "../core/history.ts";
import type { AgentMessage } from "../core/message.ts";
import type { ModelSpec, StopReason } from "../core/model.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import type { PolicyContext, StoppedBy } from "../core/policy.ts";
import { addCost, addUsage, type Cost, type Usage, zeroCost, zeroUsage } from "../core/usage.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ResolvedConfig, TurnSettings } from "./config.ts";
import { Steering } from "./steering.ts";
import { HistoryConverter, MessageConverter } from "./convert.ts";
import type { EventPipe } from "./event_pipe.ts";

/** What {@linkcode RunContext} is made of. */
export interface RunContextOptions {
  /** Where the run starts from. */
  readonly context: AgentContext;
  /** How it runs. */
  readonly config: ResolvedConfig;
  /** How it speaks. */
  readonly pipe: EventPipe;
  /** How it is stopped. */
  readonly cancellation: Cancellation;
}

/** The running totals of a run, and its one way to speak. */
export class RunContext {
  /** Id of the run. */
  readonly runId: string;
  /** How the run is configured. */
  readonly config: ResolvedConfig;
  /** How the run is stopped. */
  readonly cancellation: Cancellation;
  /** The history, this run's messages included. */
  readonly messages: AgentMessage[];
  /** How much of the history was there before. */
  readonly initialLength: number;
  /** The steering that waits for it. */
  readonly steering: Steering;
  /** The history as the provider gets it. */
  readonly converted: HistoryConverter;
  /** Converts what a transform chose. */
  readonly converter: MessageConverter;
  /** Turns that have begun. */
  turn = 0;
  /** Tokens so far. */
  usage: Usage = zeroUsage();
  /** Cost so far. */
  cost: Cost = zeroCost();
  /** What ended the run early. */
  stoppedBy: StoppedBy | undefined;
  /** What went wrong. */
  error: AgentError | undefined;
  /** Why the last reply ended. */
  stopReason: StopReason = "stop";
  readonly #context: AgentContext;
  readonly #pipe: EventPipe;
  readonly #startedAt: number;
  #callIds: CallIds | undefined;

  /** Begins a run. */
  constructor({ context, config, pipe, cancellation }: RunContextOptions) {
    this.config = config;
    this.cancellation = cancellation;
    this.messages = [...context.messages];
    this.initialLength = context.messages.length;
    this.runId = config.newId("run");
    this.steering = new Steering(config.steering);
    this.converted = new HistoryConverter(config.convertToLlm);
    this.converter = new MessageConverter(config.convertToLlm);
    this.#context = context;
    this.#pipe = pipe;
    this.#startedAt = config.now();
  }

  /** Shows a delta. */
  emitDelta(delta: AssistantMessageDelta): Promise<void> | undefined {
    return this.#pipe.emitDelta(delta);
  }

  /** Speaks; a promise when the speaker should wait for the listeners or the reader. */
  emit(event: AgentEventBody & { seq?: number }): Promise<void> | undefined {
    return this.#pipe.emit(event);
  }

  /** Settles when everything said was taken; on abort at once. */
  async untilDelivered(): Promise<void> {
    const settled = this.#pipe.drained();
    if (settled) await this.cancellation.untilAborted(settled).catch(() => {});
  }

  /** Tells of something that went wrong without stopping the run. */
  warn(code: string, message: string, data?: unknown): Promise<void> | undefined {
    return this.emit({ type: "warning", code, message, ...(data !== undefined && { data }) });
  }

  /** Adds a finished message to the history, if it says anything; the one place where a run's history grows. */
  append(message: AgentMessage): void {
    if (message.role === "assistant" && !hasContent(message.content)) return;
    this.messages.push(message);
  }

  /** Adds a message that is complete when it begins, and tells of it. */
  async emitMessage(message: AgentMessage): Promise<void> {
    this.append(message);
    await this.emit({ type: "message_start", message });
    await this.emit({ type: "message_end", message });
  }

  /** Adds messages that come from outside; what would make the history invalid is mended, and told of. */
  async appendRepaired(messages: readonly AgentMessage[]): Promise<void> {
    const isValid = messages.every(({ role }) => role === "user" || role === "custom");
    const valid = isValid ? messages : await this.#repair(messages);
    for (const message of valid) await this.emitMessage(message);
  }

  async #repair(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { messages: valid, repairs } = repairHistory([...this.messages, ...messages]);
    if (repairs.length > 0) {
      await this.warn("history_repaired", "New messages were not valid and were mended", repairs);
    }
    this.#callIds = undefined;
    return valid.slice(this.messages.length);
  }

  /** What this run has appended. */
  get newMessages(): readonly AgentMessage[] {
    return this.messages.slice(this.initialLength);
  }

  /** Lets go of whatever outlives the run. */
  dispose(): void {
    this.steering.dispose();
    this.cancellation.dispose();
  }

  /** Milliseconds since the run began. */
  get elapsedMs(): number {
    return this.config.now() - this.#startedAt;
  }

  /** What holds for the coming turn. */
  settings(): TurnSettings {
    const { systemPrompt, tools } = this.#context;
    return this.config.settings?.() ?? { model: this.config.model, systemPrompt, tools };
  }

  /** Adds to the totals. */
  addUsage(usage: Usage, cost: Cost): void {
    this.usage = addUsage(this.usage, usage);
    this.cost = addCost(this.cost, cost);
  }

  /** An id for a tool call that no other call of the history has. */
  claimCallId(id: string): string {
    this.#callIds ??= collectCallIds(this.messages);
    return this.#callIds.claim(id === "" ? this.config.newId("call") : id);
  }

  /** Gives back the ids of calls that will not stand in the history. */
  releaseCallIds(ids: readonly string[]): void {
    for (const id of ids) this.#callIds?.release(id);
  }

  /** What a policy is told of the run. */
  policyContext(model: ModelSpec): PolicyContext {
    const { runId, turn, messages, usage, cost, elapsedMs } = this;
    return {
      runId,
      turn,
      model,
      messages,
      usage,
      cost,
      elapsedMs,
      signal: this.cancellation.signal,
    };
  }
}

function collectCallIds(messages: readonly AgentMessage[]): CallIds {
  const ids = new CallIds();
  for (const message of messages) {
    if (message.role === "assistant") {
      extractToolCalls(message.content).forEach(({ id }) => ids.claim(id));
    }
  }
  return ids;
}
