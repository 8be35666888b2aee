/**
 * The messages of replies, and the event with which they start.
 *
 * @module
 */

import type { AssistantMessage } from "../../core/messages/message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { RunServices } from "../run/run_services.ts";
import type { TurnContext } from "../run/turn_context.ts";

/** Emits the `message_start` of the reply once per turn, before its first delta. */
export class MessageStart {
  readonly #turn: TurnContext;
  #id: string | undefined;

  /** Creates the start of a message that is not emitted yet. */
  constructor(turn: TurnContext) {
    this.#turn = turn;
  }

  /** Id of the message; the same at its start and its end. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Emits the start unless that was done; returns a promise if the caller should wait. */
  emitOnce(model: ModelSpec = this.#turn.settings.model): Promise<void> | undefined {
    if (this.#id !== undefined) return undefined;
    const { run } = this.#turn;
    const id = this.#id = run.history.claimMessageId();
    const reply: Reply = { content: [], usage: zeroUsage(), cost: zeroCost(), stopReason: "stop" };
    const message = { ...createMessage(run, model, reply), id };
    return run.events.emit({ type: "message_start", message });
  }
}

/** The parts of a message that a reply determines. */
type Reply = Pick<AssistantMessage, "content" | "usage" | "cost" | "stopReason">;

/** Creates the message of a reply. */
export function createMessage(
  { config }: RunServices,
  { provider, modelId }: ModelSpec,
  { content, usage, cost, stopReason }: Reply,
): AssistantMessage {
  return {
    role: "assistant",
    content,
    provider,
    modelId,
    usage,
    cost,
    stopReason,
    timestamp: config.now(),
  };
}
