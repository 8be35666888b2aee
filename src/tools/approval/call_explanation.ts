/**
 * The explanation of the decision of a gate on a call.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import type { RiskClass } from "../../core/approval/risk.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import type { CommandAssessment } from "./command_assessment.ts";

/** A tool call to explain. */
export interface ExplainedRequest {
  /** Ids of the tool calls that lead to the agent whose call this is. Default: it is one of the agent itself. */
  readonly path?: readonly string[] | undefined;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly arguments: JsonObject;
  /** The tool. */
  readonly tool: AgentTool;
}

/** The decision of a gate on a call, or that it asks. */
export interface CallExplanation {
  /** The decision; `asked` if the call is submitted to the prompt. */
  readonly decision: ApprovalDecision | AskedDecision;
  /** The risk class of the call. */
  readonly risk: RiskClass;
  /** Assessment of a `bash` command. */
  readonly assessment?: CommandAssessment;
}

/**
 * The cause of a question about a call: a rule, a change of its tool, the effects of its command, or what it has in common with
 * other calls, its class or the mode.
 */
export type AskCause = "rule" | "tool" | "command" | "class" | "mode";

/** A call is submitted to the prompt. */
export interface AskedDecision {
  readonly type: "asked";
  /** The cause of the question. */
  readonly cause: AskCause;
  /** The reason, as a sentence. */
  readonly reason: string;
  /** The rule that asks, if one does, or the class that does, such as `write: ask`. */
  readonly rule?: string;
  /** Where the rule is written. */
  readonly ruleSource?: string;
}
