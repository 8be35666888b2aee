/**
 * Decides whether a call needs approval.
 *
 * @module
 */

import { refusePromise } from "../core/refuse_promise.ts";
import { needsApproval } from "../core/tool.ts";
import type { ResolvedConfig } from "./config.ts";
import type { ReadyCall } from "./prepared_call.ts";

/** The part of a configuration that decides about approvals. */
export type ApprovalConfig = Pick<ResolvedConfig, "approve" | "approvalMode">;

/** Whether a call needs approval in the mode of a configuration. */
export function needsApprovalPrompt(
  { approve, approvalMode = approve ? "always" : "bypassed" }: ApprovalConfig,
  { tool, arguments: args }: Pick<ReadyCall, "tool" | "arguments">,
): boolean {
  switch (approvalMode) {
    case "bypassed":
      return false;
    case "always":
    case "enabled":
      return true;
    case "smart":
      try {
        const required: unknown = needsApproval(tool, args);
        refusePromise(required, "requiresApproval");
        return required !== false;
      } catch {
        return true; // A tool whose `requiresApproval` throws needs approval.
      }
  }
}
