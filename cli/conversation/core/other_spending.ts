/**
 * The tokens and the cost of a session that its messages do not have.
 *
 * @module
 */

import type { Cost, Usage } from "../../../mod.ts";
import { unknownCost, zeroUsage } from "../../../src/core/models/usage.ts";
import type { Session, SessionEntry } from "../../../src/memory/mod.ts";
import { PLAN_AGENT_ID } from "../command/record_execution.ts";

/** Tokens and cost of a summary, of a reply without content, or of an agent that worked in the background. */
export interface OtherSpending {
  /** Time of the entry of the session, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Whether it is that of a summary. */
  readonly isSummary: boolean;
  readonly usage: Usage;
  readonly cost: Cost;
}

/** Reads the spending of the current branch of a session, in order. */
export async function readOtherSpending(session: Session | undefined): Promise<OtherSpending[]> {
  const types = ["compaction", "reply_failed", "sub_agent_result"] as const;
  return (await session?.path({ types }) ?? []).flatMap(toSpending);
}

function toSpending(entry: SessionEntry): OtherSpending[] {
  switch (entry.type) {
    case "compaction":
      return createSpending(entry, entry);
    case "reply_failed":
      return createSpending(entry, entry.message);
    case "sub_agent_result": {
      // The spending of the agent of a plan is counted with the text about the plan.
      const isCounted = entry.isCounted || entry.subAgentId === PLAN_AGENT_ID;
      return isCounted ? [] : createSpending(entry, entry);
    }
    default:
      return [];
  }
}

function createSpending(
  { timestamp, type }: SessionEntry,
  { usage, cost }: { readonly usage?: Usage | undefined; readonly cost?: Cost | undefined },
): OtherSpending[] {
  if (!usage && !cost) return [];
  return [{
    timestamp,
    isSummary: type === "compaction",
    usage: usage ?? zeroUsage(),
    cost: cost ?? unknownCost(),
  }];
}
