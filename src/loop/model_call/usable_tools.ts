/**
 * The tools that policies leave to the model.
 *
 * @module
 */

import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { OfferedTool, Policy } from "../../core/hooks/policy.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { filterExtraFields } from "../../core/streams/extra_fields.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { ParentRun } from "../run/parent_run.ts";
import { warnHookFailed } from "../run/policy_slots.ts";
import type { RunServices } from "../run/run_services.ts";
import type { RunContext } from "../run/turn_context.ts";
import { getToolSpecs, type PreparedRequest } from "./request.ts";

/** Whether a tool exists for the model: whether every policy allows it, or it is that of a structured answer. */
export function isUsable({ run, settings }: RunContext, tool: AgentTool): boolean {
  return run.config.policies.length === 0 || tool === settings.answerTool ||
    isOffered(run, { type: "tool", tool });
}

/** Returns a request without the tools that do not exist for the model. */
export function removeUnusableTools(turn: RunContext, request: PreparedRequest): PreparedRequest {
  const { run } = turn;
  if (!run.config.policies.some(({ canUseTool }) => canUseTool)) return request;
  const { extraProvider, context, options: { serverTools, extra, ...options } } = request;
  const usable = request.tools.filter((tool) => isUsable(turn, tool));
  // The same array for the same tools, since adapters cache by identity.
  const tools = usable.length === request.tools.length ? request.tools : usable;
  const offered = serverTools?.filter((tool) => isOffered(run, { type: "server_tool", tool }));
  return {
    ...request,
    tools,
    hiddenTools: request.hiddenTools?.filter((tool) => isUsable(turn, tool)),
    context: { ...context, tools: getToolSpecs(tools) },
    options: {
      ...options,
      ...(offered && { serverTools: offered }),
      ...(extra && { extra: removeExtraTools(run, extra, extraProvider) }),
    },
  };
}

/**
 * Returns a request without a choice of one of the `offered` tools that policies have left out of it, which a provider
 * refuses. The choice may also be a tool of the provider.
 */
export function withPossibleChoice(
  request: PreparedRequest,
  offered: readonly AgentTool[],
): PreparedRequest {
  const { tools, options } = request;
  const { toolChoice } = options;
  const isPossible = typeof toolChoice === "object"
    ? hasTool(tools, toolChoice) || !hasTool(offered, toolChoice)
    : toolChoice !== "required" || tools.length > 0;
  return isPossible ? request : { ...request, options: { ...options, toolChoice: "auto" } };
}

function hasTool(tools: readonly AgentTool[], choice: { readonly name: string }): boolean {
  return tools.some(({ name }) => name === choice.name);
}

/** Returns the additional fields of a body without the tools that policies refuse; these are reported once. */
export function removeExtraTools(
  run: RunServices,
  extra: JsonObject,
  provider: string,
): JsonObject {
  if (!run.config.policies.some(({ canUseTool }) => canUseTool)) return extra;
  const { fields, removed } = filterExtraFields(extra, {
    provider,
    isAllowed: (tool) => isOffered(run, { type: "server_tool", tool }),
  });
  for (const name of removed) {
    if (run.removedFields.has(name)) continue;
    run.removedFields.add(name);
    const message =
      `The extra field "${name}" is not sent, or only in part: it may give the model tools that a policy refuses`;
    void run.events.warn("extra_left_out", message, { field: name });
  }
  return fields;
}

function isOffered(run: RunServices, offered: OfferedTool): boolean {
  return run.config.policies.every((policy) => isOfferedBy(run, policy, offered));
}

/** Asks one policy; if it fails, the tool does not exist, and the failure is reported as a `warning` event. */
function isOfferedBy(run: RunServices, policy: Policy, offered: OfferedTool): boolean {
  if (!policy.canUseTool) return true;
  const { runId, config: { parent } } = run;
  const parentRunIds = parent instanceof ParentRun ? parent.lineage : [];
  try {
    const answer: unknown = policy.canUseTool({ ...offered, runId, parentRunIds });
    refusePromise(answer, "canUseTool");
    return answer === true;
  } catch (thrown) {
    void warnHookFailed(run, { policy, hook: "canUseTool", thrown });
    return false;
  }
}
