/**
 * The tool calls of a run that wait for a decision, as the run publishes them.
 *
 * @module
 */

import type { PendingApproval } from "../../core/approval/approval.ts";
import type { PublishedEvent } from "../../core/durable/durable_engine.ts";
import { isJsonObject } from "../../core/json/json.ts";

/** Published when an agent begins or ends to wait for the decision on a call. */
export type ApprovalNotice =
  | { readonly type: "approval_awaited"; readonly approval: PendingApproval }
  | { readonly type: "approval_settled"; readonly toolCallId: string };

/** Returns the calls that wait after some events, in order. */
export function listPendingApprovals(
  events: readonly PublishedEvent[],
): readonly PendingApproval[] {
  const pending = new Map<string, PendingApproval>();
  for (const published of events) {
    const event = published.type === "event" ? published.event : undefined;
    if (!isJsonObject(event)) continue;
    const notice = event as unknown as ApprovalNotice;
    if (notice.type === "approval_awaited") {
      pending.set(notice.approval.toolCallId, notice.approval);
    } else if (notice.type === "approval_settled") pending.delete(notice.toolCallId);
  }
  return [...pending.values()];
}
