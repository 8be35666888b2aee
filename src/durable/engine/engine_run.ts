/**
 * A run of an engine.
 *
 * @module
 */

import type { ApprovalDecision, PendingApproval } from "../../core/approval/approval.ts";
import type {
  DurableRun,
  DurableStatus,
  PublishedEvent,
  RunEventsOptions,
} from "../../core/durable/durable_engine.ts";
import type { RunMessage } from "../../core/durable/durable_steps.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { type JsonValue, toJsonValue } from "../../core/json/json.ts";
import {
  type AgentMessage,
  type PromptInput,
  toAgentMessages,
} from "../../core/messages/message.ts";
import { type EventSource, followRunEvents, readRunEvents } from "../events/read_run_events.ts";
import { listPendingApprovals } from "./pending_approvals.ts";
import { type DurableOutcome, unwrapRun } from "./run_outcome.ts";

/** The part of an engine that its runs use. */
export interface RunBackend extends EventSource {
  /** Resolves to the outcome of a run when it has ended. */
  awaitOutcome(id: string): Promise<DurableOutcome>;
  /** Records a message to a run that has not ended. Rejects if it refuses messages. */
  sendMessage(id: string, message: RunMessage): Promise<void>;
}

/** Returns the name of the signal that decides about a tool call. */
export function getApprovalSignal(toolCallId: string): string {
  return `approval ${toolCallId}`;
}

/** Creates the error for a message to a run that accepts none. */
export function createRefusal(id: string): BadRequestError {
  return new BadRequestError(`Cannot send a message to the run "${id}": it has ended`);
}

/** A run, in this process or another one. */
export class EngineRun<Output> implements DurableRun<Output> {
  readonly id: string;
  readonly #backend: RunBackend;

  constructor(id: string, backend: RunBackend) {
    this.id = id;
    this.#backend = backend;
  }

  async status(): Promise<DurableStatus | undefined> {
    return await this.#backend.getStatus(this.id);
  }

  async result(): Promise<Output> {
    await this.#checkExists();
    return unwrapRun(await this.#backend.awaitOutcome(this.id)) as Output;
  }

  events(options: RunEventsOptions = {}): AsyncIterable<readonly PublishedEvent[]> {
    return followRunEvents(this.#backend, this.id, options);
  }

  async readEvents(
    { after }: Pick<RunEventsOptions, "after"> = {},
  ): Promise<readonly PublishedEvent[]> {
    return await readRunEvents(this.#backend, this.id, after);
  }

  async pendingApprovals(): Promise<readonly PendingApproval[]> {
    return listPendingApprovals(await this.readEvents({ after: "checkpoint" }));
  }

  async send(message: RunMessage): Promise<void> {
    checkMessage(message);
    const copy = toJsonValue(message);
    if (!("value" in copy)) throw new BadRequestError(`A message must be JSON: ${copy.problem}`);
    const status = await this.#checkExists();
    if (status !== "running") throw createRefusal(this.id);
    await this.#backend.sendMessage(this.id, copy.value as unknown as RunMessage);
  }

  async steer(input: PromptInput): Promise<void> {
    await this.#queue("steer", input);
  }

  async followUp(input: PromptInput): Promise<void> {
    await this.#queue("follow_up", input);
  }

  async abort(reason?: string): Promise<void> {
    await this.send({ type: "abort", ...(reason !== undefined && { reason }) });
  }

  async decide(toolCallId: string, decision: ApprovalDecision | boolean): Promise<void> {
    await this.signal(getApprovalSignal(toolCallId), decision as JsonValue);
  }

  async signal(name: string, data: JsonValue = null): Promise<void> {
    await this.send({ type: "signal", name, data });
  }

  async #queue(type: "steer" | "follow_up", input: PromptInput): Promise<void> {
    for (const message of readMessages(input)) await this.send({ type, message });
  }

  async #checkExists(): Promise<DurableStatus> {
    const status = await this.status();
    if (status) return status;
    throw new BadRequestError(`There is no run with the id "${this.id}"`);
  }
}

/** Checks a message, which its run could not handle otherwise. */
function checkMessage(message: RunMessage): void {
  switch (message?.type) {
    case "steer":
    case "follow_up":
      readMessages(message.message);
      return;
    case "signal":
      if (typeof message.name === "string") return;
      throw new BadRequestError(`A signal needs a name, not ${describeValue(message.name)}`);
    case "abort":
      return;
    default: {
      const { type } = message as { readonly type: unknown } | null ?? {};
      throw new BadRequestError(
        `A message to a run has the type steer, follow_up, signal or abort, not ${
          describeValue(type)
        }`,
      );
    }
  }
}

/** Returns messages for the queues of an agent: at least one. */
function readMessages(input: PromptInput): readonly AgentMessage[] {
  const messages = toAgentMessages(input, Date.now());
  if (messages.length === 0) throw new BadRequestError("There are no messages to queue");
  return messages;
}
