/**
 * The tools of calls that a run continues without a request.
 *
 * @module
 */

import { checkTools } from "../tools/check_tool.ts";
import type { AgentTool } from "../tools/tool.ts";
import type { Policy, ResumeToolsContext } from "./policy.ts";

/** Called with a policy that fails. */
export type ReportFailure = (policy: Policy, thrown: unknown) => void;

/** Returns the tools with those that policies add to requests. The tools of a policy that fails are left out. */
export function getResumedTools(
  policies: readonly Policy[],
  { runId, tools }: ResumeToolsContext,
  report: ReportFailure = () => {},
): readonly AgentTool[] {
  return policies.reduce((before, policy) => {
    try {
      const returned = policy.resumeTools?.({ runId, tools: before });
      if (returned === undefined) return before;
      checkTools(returned);
      return returned;
    } catch (thrown) {
      report(policy, thrown);
      return before;
    }
  }, tools);
}
