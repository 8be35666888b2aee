/**
 * The cost of a session.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { Cost } from "../../core/models/usage.ts";

/** Adds up the cost of a session, with that of its sub-agents. */
export class SessionCost {
  #total: number | null;

  /** Begins with the cost of the messages before the runs. */
  constructor(history: readonly AgentMessage[]) {
    this.#total = sumCost(history);
  }

  /** The total in dollars; `null` if a part of it is unknown. */
  get total(): number | null {
    return this.#total;
  }

  /** Adds the cost of a model call, or of the summary of a compaction, which may have none. */
  add({ cost }: { readonly cost?: Cost | undefined }): void {
    if (cost) this.#total = addCosts(this.#total, cost.total);
  }
}

/** Returns the cost of messages; `null` if that of one is unknown. */
function sumCost(messages: readonly AgentMessage[]): number | null {
  return messages.reduce<number | null>((sum, message) => {
    const cost = "cost" in message && message.cost ? message.cost.total : 0;
    return addCosts(sum, cost);
  }, 0);
}

function addCosts(first: number | null, second: number | null): number | null {
  return first === null || second === null ? null : first + second;
}
