/**
 * Policies for agents: limits, tool lists, loop detection and an audit log; and the inputs and verdicts of the hooks of a
 * `Policy`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { budget, denyTools, loopDetection } from "@swink/agent/policies";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({
 *   model: "any/model",
 *   streamFn: scriptedStream([reply("Hello")]),
 *   policies: [budget({ tokens: 100_000 }), denyTools(["bash"]), loopDetection()],
 * });
 * const { stoppedBy } = await agent.prompt("Hi"); // undefined: no policy ended the run
 * ```
 *
 * @module
 */

export type {
  CanUseToolContext,
  ChangeVerdict,
  ContinueVerdict,
  HideVerdict,
  InjectVerdict,
  OfferedTool,
  OnDeltaContext,
  PostDispatchContext,
  PostLoopContext,
  PostTurnContext,
  PreDispatchContext,
  PreDispatchVerdict,
  PreRequestContext,
  PreRequestVerdict,
  PreTurnContext,
  RefusedCallContext,
  ResumeToolsContext,
  RunningCall,
  SkipVerdict,
  StopVerdict,
} from "../core/hooks/policy.ts";
export {
  auditLog,
  type AuditLogOptions,
  type AuditRecord,
  type AuditRecordBase,
} from "./audit_log.ts";
export {
  type AuditChain,
  auditChain,
  type AuditChainOptions,
  type AuditLink,
  type AuditVerification,
  verifyAuditLog,
  type VerifyAuditLogOptions,
} from "./audit_chain.ts";
export { recordAuditLinks } from "./record_audit_links.ts";
export { budget } from "./budget.ts";
export type { BudgetOptions, PreflightOptions } from "./budget_limits.ts";
export { loopDetection, type LoopDetectionOptions } from "./loop_detection.ts";
export { maxTurns } from "./max_turns.ts";
export {
  type BudgetSpending,
  type SharedBudget,
  sharedBudget,
  type SharedBudgetOptions,
} from "./shared_budget.ts";
export { allowTools, denyTools } from "./tool_lists.ts";
