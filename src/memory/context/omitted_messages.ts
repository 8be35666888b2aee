/**
 * The messages that a cut omits.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { AppliedCut } from "./applied_cut.ts";

/**
 * Returns the messages that the summary of a cut is about. Other options may have kept messages that a later cut omits: the
 * `anchor` was longer, or `pin` selected them.
 */
export function listSummarized(
  messages: readonly AgentMessage[],
  cut: AppliedCut | undefined,
): readonly AgentMessage[] {
  return cut?.summary === undefined || cut.isIncomplete ? [] : listOmitted(messages, cut);
}

/** Returns the messages that a cut omits. */
export function listOmitted(
  messages: readonly AgentMessage[],
  { from, to, pinnedAt }: AppliedCut,
): readonly AgentMessage[] {
  const kept = new Set(pinnedAt);
  return messages.slice(from, to).filter((_message, index) => !kept.has(from + index));
}
