/**
 * Applies the `preRequest` policies to a request.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { ignoreRejections } from "../../core/errors/refuse_promise.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { ChangeVerdict, HideVerdict, PreRequestContext } from "../../core/hooks/policy.ts";
import { freezeJson } from "../../core/json/freeze_json.ts";
import { cloneJson } from "../../core/json/json.ts";
import { type AgentMessage, checkMessages, type LlmMessage } from "../../core/messages/message.ts";
import { checkModelSpec } from "../../core/models/model.ts";
import type { LlmContext } from "../../core/streams/stream.ts";
import { checkTools } from "../../core/tools/check_tool.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import type { CheckOption } from "../run/check_config.ts";
import { getModelFacts, loadFacts } from "../run/model_facts.ts";
import { formatHook, parseVerdict } from "../run/policy_slots.ts";
import { getPrices } from "../run/price.ts";
import type { RunServices } from "../run/run_services.ts";
import { createPolicyContext, type TurnContext } from "../run/turn_context.ts";
import { repairRequest } from "./repair_request.ts";
import { getToolSpecs, type PreparedRequest } from "./request.ts";

/** The request after the policies, or the policy that stops the run. */
export type PreRequestOutcome =
  | { readonly type: "ready"; readonly request: PreparedRequest }
  | { readonly type: "stopped"; readonly stoppedBy: StoppedBy };

/** Whether any policy sees the requests of a run. */
export function usesPreRequest({ config }: RunServices): boolean {
  return config.policies.some(({ preRequest }) => preRequest);
}

/**
 * Calls the `preRequest` policies in order; each gets the request as changed by those before it.
 *
 * @throws {AgentError} If a policy throws, rejects or returns an invalid verdict.
 */
export async function applyPreRequest(
  turn: TurnContext,
  prepared: PreparedRequest,
): Promise<PreRequestOutcome> {
  const { config: { policies, streamFn } } = turn.run;
  let request = prepared;
  await loadFacts(streamFn, turn);
  for (const policy of policies) {
    if (!policy.preRequest) continue;
    let returned: unknown;
    try {
      const returning = Promise.resolve(policy.preRequest(createInput(turn, request)));
      returned = await turn.cancellation.withGrace(returning);
      const verdict = parseVerdict(returned, ["stop", "change", "hide"]);
      if (verdict?.type === "stop") {
        return { type: "stopped", stoppedBy: { policy: policy.name, reason: verdict.reason } };
      }
      if (verdict) request = applyVerdict(turn, request, verdict);
    } catch (thrown) {
      ignoreRejections(returned);
      throw toHookError(formatHook(policy, "preRequest"), thrown);
    }
  }
  return { type: "ready", request: await repairChange(turn, prepared, request) };
}

/** Creates the input of a policy for a request. */
function createInput(turn: TurnContext, request: PreparedRequest): PreRequestContext {
  const { run, progress } = turn;
  const { model, context, options, tools } = request;
  const { streamFn } = run.config;
  return createPolicyContext(turn, {
    model: cloneJson(model),
    request: {
      model: cloneJson(model),
      context: copyContext(run, context),
      options: freezeJson(cloneJson(options)),
      runId: run.runId,
      turn: progress.turn,
    },
    tools,
    ...getModelFacts(model, { streamFn, prices: getPrices(run, streamFn) }),
  });
}

function applyVerdict(
  turn: TurnContext,
  request: PreparedRequest,
  verdict: ChangeVerdict | HideVerdict,
): PreparedRequest {
  if (verdict.type === "hide") return hideTools(turn, request, verdict);
  checkChange(verdict, turn.run.checkStreamOptions);
  return applyChange(request, verdict);
}

/** Returns the input of a model call for a policy, which reads frozen copies of the messages. */
function copyContext({ history }: RunServices, context: LlmContext): LlmContext {
  const { systemPrompt, messages, tools } = context;
  return {
    systemPrompt,
    tools,
    get messages() {
      return history.copyRequest(messages);
    },
  };
}

/** Repairs the messages of a request if a policy has replaced them. */
async function repairChange(
  { run }: TurnContext,
  prepared: PreparedRequest,
  request: PreparedRequest,
): Promise<PreparedRequest> {
  const { messages } = request.context;
  if (messages === prepared.context.messages) return request;
  const valid = await repairRequest(run, "A preRequest policy", messages);
  return valid === messages
    ? request
    : { ...request, context: { ...request.context, messages: valid } };
}

function applyChange(request: PreparedRequest, change: ChangeVerdict): PreparedRequest {
  const { model = request.model, tools = request.tools, toolChoice } = change;
  const { systemPrompt = request.context.systemPrompt } = change;
  const { messages = request.context.messages } = change;
  return {
    ...request,
    model,
    tools,
    ...(change.options?.apiKey !== undefined && { keyProvider: model.provider }),
    ...(change.options?.extra !== undefined && { extraProvider: model.provider }),
    context: { systemPrompt, messages, tools: getToolSpecs(tools) },
    options: { ...request.options, ...change.options, ...(toolChoice && { toolChoice }) },
  };
}

/** Leaves tools out of a request, except that of a structured answer. */
function hideTools(
  { settings: { answerTool } }: TurnContext,
  request: PreparedRequest,
  { tools: hidden }: HideVerdict,
): PreparedRequest {
  if (!Array.isArray(hidden)) throw new TypeError("a hide verdict must have tools");
  const isHidden = (tool: AgentTool): boolean => hidden.includes(tool) && tool !== answerTool;
  const tools = request.tools.filter((tool) => !isHidden(tool));
  return {
    ...request,
    tools,
    hiddenTools: [...request.hiddenTools ?? [], ...request.tools.filter(isHidden)],
    context: { ...request.context, tools: getToolSpecs(tools) },
  };
}

/**
 * Checks a change by an untyped policy, so that the error names the policy.
 *
 * @throws {TypeError} If a part of it is invalid.
 */
function checkChange(
  { model, systemPrompt, messages, tools, toolChoice, options }: ChangeVerdict,
  checkStreamOptions: CheckOption,
): void {
  ignoreRejections(options);
  try {
    if (model !== undefined) checkModelSpec(model);
    if (tools !== undefined) checkTools(tools);
    if (messages !== undefined) checkRequestMessages(messages);
    if (options !== undefined) checkStreamOptions("options", options);
    checkStreamOptions("change", { toolChoice });
  } catch (thrown) {
    throw new TypeError(getErrorMessage(thrown), { cause: thrown });
  }
  if (systemPrompt !== undefined && typeof systemPrompt !== "string") {
    throw new TypeError("systemPrompt must be a string");
  }
}

function checkRequestMessages(messages: readonly LlmMessage[]): void {
  checkMessages(messages);
  if (messages.length === 0) throw new TypeError("messages must not be empty");
  if (messages.some(({ role }: AgentMessage) => role === "custom")) {
    throw new TypeError("messages must have no custom message: convert it");
  }
}
