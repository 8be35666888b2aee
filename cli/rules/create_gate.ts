/**
 * The gate that decides about the calls of a run.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { type ApprovalGate, approvalGate, type ApprovalGateOptions } from "../../src/tools/mod.ts";
import { UsageError } from "../host/cli_error.ts";
import type { ToolRules } from "../run/settings/tool_rules.ts";

/**
 * Creates the gate of a run.
 *
 * @throws {UsageError} If a rule is invalid.
 */
export function createGate(
  { allow, deny }: Pick<ToolRules, "allow" | "deny">,
  { sandbox, mode }: Required<Pick<ApprovalGateOptions, "sandbox" | "mode">>,
): ApprovalGate {
  try {
    return approvalGate({ mode, allow, deny, sandbox });
  } catch (error) {
    throw new UsageError(getErrorMessage(error));
  }
}
