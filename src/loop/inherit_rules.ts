/**
 * Limits the calls of an agent to those of the run whose tool runs it.
 *
 * @module
 */

import type { ApprovalDecision } from "../core/approval/approval.ts";
import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import type { ApprovalAnswer, ApprovalRequest, ExplainedCall } from "../core/hooks/approve.ts";
import type { Policy } from "../core/hooks/policy.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ResolvedConfig } from "./run/config.ts";
import { addGuards } from "./run/guard.ts";
import { ParentRun } from "./run/parent_run.ts";
import { type ApprovalConfig, needsApprovalPrompt } from "./tool_calls/approve_call.ts";
import {
  canExplain,
  type Denial,
  findObjection,
  reportApproval,
} from "./tool_calls/find_denial.ts";
import { toDecision } from "./tool_calls/to_decision.ts";

/**
 * Returns the configuration with the rules of its parent: the policies as guards, and for each call, after the agent's own
 * approval, the decision of the parent, which is made without asking a person.
 *
 * @throws {BadRequestError} If the limits on agents are reached.
 */
export function inheritRules(config: ResolvedConfig): ResolvedConfig {
  const { parent } = config;
  if (!parent) return config;
  if (!(parent instanceof ParentRun)) {
    throw new BadRequestError(
      "parent must be the `run` of a ToolContext, of this version of the library",
    );
  }
  parent.addAgent();
  const inherited = { ...config, policies: inheritPolicies(config) };
  const { approve: parentApprove, approvalMode } = parent.config;
  if (!parentApprove && !approvalMode) return inherited;
  const approve = async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
    const answer = await decideUnder(parent, request, askOwn(config, request));
    return reportDecision(parent.config, request, answer);
  };
  const explain = async (call: ExplainedCall) => ({
    decision: await decideUnder(parent, call, decideAlone(config, call)),
  });
  const onApproved = (call: ExplainedCall): void => {
    for (const approval of [config, parent.config]) throwDenial(reportApproval(approval, call));
  };
  return {
    ...inherited,
    approvalMode: "always",
    approve: Object.assign(approve, { explain, onApproved }),
  };
}

/** Reports a call that is approved to the approval of the parent; returns a denial if that fails. */
function reportDecision<Answer extends ApprovalAnswer>(
  parent: ApprovalConfig,
  { path, name, tool, arguments: args }: ExplainedCall,
  answer: Answer,
): Answer | ApprovalDecision {
  if (typeof answer !== "object" || answer.type !== "approved") return answer;
  return reportApproval(parent, { path, name, tool, arguments: answer.arguments ?? args }) ??
    answer;
}

function throwDenial(denial: Denial | undefined): void {
  if (denial) throw new Error(denial.reason);
}

/** Returns the policies of a configuration, and as guards those of its parent. */
export function inheritPolicies({ policies, parent }: ResolvedConfig): readonly Policy[] {
  return parent instanceof ParentRun ? addGuards(policies, parent.config.policies) : policies;
}

async function decideUnder<Answer extends ApprovalAnswer>(
  parent: ParentRun,
  call: ExplainedCall,
  own: Promise<Answer>,
): Promise<Answer | ApprovalDecision> {
  const answer = await own;
  if (typeof answer === "object" && answer.type === "pending") return answer;
  const decision = toDecision(answer);
  // A person may later approve a call that the agent cannot decide about alone, unless a rule of the parent denies it.
  if (decision.type === "denied" && decision.origin !== "mode") return decision;
  const args: JsonObject = (decision.type === "approved" && decision.arguments) || call.arguments;
  const inherited = await decideAlone(parent.config, {
    path: call.path,
    name: call.name,
    tool: call.tool,
    arguments: args,
  });
  if (decision.type === "denied") {
    return inherited.type === "denied" && inherited.origin !== "mode" ? inherited : decision;
  }
  if (inherited.type === "denied") return inherited;
  const isAsWritten = decision.arguments === undefined && decision.refusedHunks === undefined;
  return decision.origin === "mode" && isAsWritten ? inherited : decision;
}

/** Returns the answer of the agent's own approval; a call that needs none is approved unless a rule has an objection. */
async function askOwn(config: ApprovalConfig, request: ApprovalRequest): Promise<ApprovalAnswer> {
  const { approve } = config;
  if (!needsApprovalPrompt(config, request)) {
    const objection = await findObjection(config, request);
    if (objection?.type !== "asked") return objection ?? UNASKED;
  }
  return approve ? await approve(request) : false;
}

/**
 * Returns the decision of a configuration on a call. A call that a person would be asked about is denied, since an agent
 * that a tool runs works alone. Never rejects.
 */
async function decideAlone(
  config: ApprovalConfig,
  call: ExplainedCall,
): Promise<ApprovalDecision> {
  if (!needsApprovalPrompt(config, call)) return await decideUnasked(config, call);
  const { approve } = config;
  if (!approve || !canExplain(approve)) return createDenial("every such call is asked about");
  try {
    const { decision } = await approve.explain(call);
    return decision.type === "asked" ? createDenial(decision.reason) : toDecision(decision);
  } catch (thrown) {
    return createDenial(`the approval failed: ${getErrorMessage(thrown)}`);
  }
}

async function decideUnasked(
  config: ApprovalConfig,
  call: ExplainedCall,
): Promise<ApprovalDecision> {
  const objection = await findObjection(config, call);
  return objection?.type === "asked" ? createDenial(objection.reason) : objection ?? UNASKED;
}

const UNASKED: ApprovalDecision = { type: "approved", origin: "mode" };

function createDenial(reason: string): ApprovalDecision {
  return {
    type: "denied",
    reason: `this agent works alone, and the call needs the approval of a person (${reason})`,
    origin: "mode",
  };
}
