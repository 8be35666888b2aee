/**
 * Approvals as permission requests.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";

/** An answer that a client offers to its user. */
export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once";
}

/** The outcome of a request for a permission. */
export interface PermissionOutcome {
  readonly outcome: string;
  readonly optionId?: string | undefined;
}

/** The answers about a tool call. */
export const PERMISSION_OPTIONS: readonly PermissionOption[] = [
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "tool", name: "Allow this tool for the session", kind: "allow_always" },
  { optionId: "deny", name: "Reject", kind: "reject_once" },
];

/** Returns the decision for an answer; whatever is not an approval is a refusal, by the user only if they chose it. */
export function toDecision({ outcome: type, optionId }: PermissionOutcome): ApprovalDecision {
  if (type === "selected" && (optionId === "once" || optionId === "tool")) {
    return { type: "approved", scope: optionId, origin: "person" };
  }
  if (type === "cancelled") return { type: "denied", reason: "the prompt was cancelled" };
  if (type === "selected" && optionId === "deny") {
    return { type: "denied", reason: "the user refused", origin: "person" };
  }
  return { type: "denied", reason: "the client gave no valid answer" };
}
