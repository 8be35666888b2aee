/**
 * Tokens, cost and duration of the prompts of a history.
 *
 * @module
 */

import type { AgentMessage, AssistantMessage, Cost, Usage } from "../../../mod.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import type { TurnUsage } from "../../render/status/turn_usage.ts";
import { parsePlanMetadata } from "../../sessions/user_notes.ts";
import { getTypedPrompt } from "../command/typed_text.ts";
import type { OtherSpending } from "./other_spending.ts";

/**
 * Returns the usage of each prompt that has replies.
 *
 * @param others What else the session has used, in order. It belongs to the prompt of its time; a summary between two
 * prompts is a turn of its own. Default: nothing.
 */
export function listTurns(
  messages: readonly AgentMessage[],
  others: readonly OtherSpending[] = [],
): TurnUsage[] {
  const turns = new Turns();
  let next = 0;
  for (const [index, message] of messages.entries()) {
    turns.addMessage(message);
    const end = messages[index + 1]?.timestamp ?? Infinity;
    for (let other = others[next]; other && other.timestamp < end; other = others[++next]) {
      turns.addOther(other);
    }
  }
  for (const other of others.slice(next)) turns.addOther(other);
  return turns.list;
}

/** Adds up what follows each message of the user. */
class Turns {
  readonly list: TurnUsage[] = [];
  #startedAt: number | undefined;
  #endedAt = -Infinity;
  /** Whether the last message of the user has no turn yet. */
  #isNew = true;
  /** Whether the last message is a reply without calls. */
  #isAnswered = true;
  #label = "";

  addMessage(message: AgentMessage): void {
    switch (message.role) {
      case "user": {
        // A text that was queued begins with the end of the reply before it.
        this.#startedAt = Math.max(message.timestamp, this.#endedAt);
        this.#isNew = true;
        this.#label = getTypedPrompt(message);
        const plan = parsePlanMetadata(message.metadata);
        if (plan) this.list.push({ label: "/execute", ...plan });
        this.#isAnswered = plan !== undefined;
        return;
      }
      case "tool_result":
        // The agents that the call has started belong to the prompt.
        return this.#addToLast(message);
      case "assistant":
        this.#addReply(message);
        this.#isAnswered = message.content.every(({ type }) => type !== "tool_call");
        return;
      default:
        return;
    }
  }

  addOther({ isSummary, usage, cost }: OtherSpending): void {
    const turn = { usage, cost, durationMs: 0 };
    const isBetweenPrompts = isSummary && this.#isAnswered;
    if (!isBetweenPrompts && !this.#isNew) return this.#addToLast({ usage, cost });
    this.list.push({ label: isBetweenPrompts ? "/compact" : this.#label, ...turn });
    this.#isNew = isBetweenPrompts;
  }

  #addReply({ usage, cost, timestamp }: AssistantMessage): void {
    const turn = this.#isNew ? undefined : this.list.pop();
    this.list.push({
      label: this.#label,
      usage: addUsage(turn?.usage ?? zeroUsage(), usage),
      cost: addCost(turn?.cost ?? zeroCost(), cost),
      durationMs: Math.max(timestamp - (this.#startedAt ?? timestamp), turn?.durationMs ?? 0, 0),
    });
    this.#endedAt = Math.max(timestamp, this.#endedAt);
    this.#isNew = false;
  }

  #addToLast(
    { usage = zeroUsage(), cost = zeroCost() }: { readonly usage?: Usage; readonly cost?: Cost },
  ): void {
    const turn = this.list.pop();
    if (!turn) return;
    this.list.push({
      ...turn,
      usage: addUsage(turn.usage, usage),
      cost: addCost(turn.cost, cost),
    });
  }
}
