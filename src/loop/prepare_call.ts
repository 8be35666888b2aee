/**
 * The first stages of a tool call: read its arguments, find its tool, validate, ask the policies.
 *
 * @module
 */

import type { FinishedCall } from "../core/accumulate.ts";
import { getErrorMessage } from "../core/errors.ts";
import { cloneJson, type JsonObject } from "../core/json.ts";
import type { AgentMessage } from "../core/message.ts";
import type { PreDispatchVerdict, StoppedBy } from "../core/policy.ts";
import { compileSchema, formatErrors } from "../core/schema.ts";
import type { TurnSettings } from "./config.ts";
import { callPolicy } from "./policy_slots.ts";
import { ABORTED_TEXT, type PreparedCall, type ReadyCall, refuseCall } from "./prepared_call.ts";
import type { RunContext } from "./run_context.ts";

/** How much of unreadable arguments the model gets to see again. */
const MAX_QUOTED_CHARACTERS = 500;

/** Finds the tool of a call and validates its arguments. */
export async function resolveCall(
  run: RunContext,
  { tools }: TurnSettings,
  { block, state }: FinishedCall,
): Promise<PreparedCall> {
  const tool = tools.find(({ name }) => name === block.name);
  if (!tool) {
    const names = tools.map(({ name }) => name).join(", ") || "none";
    return refuseCall(block, `Tool "${block.name}" not found. Available tools: ${names}.`);
  }
  if (state.type === "truncated") return refuseCall(block, TRUNCATED_TEXT);
  if (state.type === "invalid") {
    return refuseCall(block, formatUnreadableArguments(block.name, state.text, state.reason));
  }
  const ready: ReadyCall = {
    type: "ready",
    block,
    tool,
    arguments: block.arguments,
    changed: false,
  };
  return await validateCall(run, ready);
}

/** What the policies say to a call. */
export interface PolicyCheckedCall {
  /** The call, with the arguments that the policies left. */
  readonly call: PreparedCall;
  /** The policy that ends the run, if one does. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
}

/** Asks the policies about a call; arguments that they change are validated again. */
export async function checkPolicies(
  run: RunContext,
  settings: TurnSettings,
  ready: ReadyCall,
): Promise<PolicyCheckedCall> {
  const policies = run.config.policies.filter((policy) => policy.preDispatch);
  if (policies.length === 0) return { call: ready, injected: [] };
  const injected: AgentMessage[] = [];
  let args = ready.arguments;
  for (const policy of policies) {
    const draft = cloneJson(args) as Record<string, unknown>;
    const verdict = await callPolicy<PreDispatchVerdict>(run, policy, async () => {
      const said = await policy.preDispatch?.({
        ...run.policyContext(settings.model),
        toolCallId: ready.block.id,
        tool: ready.tool,
        arguments: draft,
      });
      args = draft;
      return said;
    });
    if (verdict?.type === "inject") injected.push(...verdict.messages);
    if (verdict?.type === "skip") {
      return { call: refuseCall(ready.block, `Tool call refused: ${verdict.reason}`), injected };
    }
    if (verdict?.type === "stop") {
      return { call: ready, stoppedBy: { policy: policy.name, reason: verdict.reason }, injected };
    }
  }
  return { call: await withArguments(run, ready, args), injected };
}

/** A call with a copy of other arguments, validated; the same call when they are the same. */
export async function withArguments(
  run: RunContext,
  ready: ReadyCall,
  args: JsonObject,
): Promise<PreparedCall> {
  if (JSON.stringify(args) === JSON.stringify(ready.arguments)) return ready;
  return await validateCall(run, { ...ready, arguments: cloneJson(args), changed: true });
}

async function validateCall(run: RunContext, ready: ReadyCall): Promise<PreparedCall> {
  const { block, tool } = ready;
  try {
    const compiling = compileSchema(tool.parameters, run.config.validator);
    const check = compiling instanceof Promise
      ? await run.cancellation.withGrace(compiling)
      : compiling;
    const errors = check(ready.arguments);
    if (errors.length === 0) return ready;
    return refuseCall(block, `Invalid arguments for "${tool.name}":\n${formatErrors(errors)}`);
  } catch (thrown) {
    if (run.cancellation.aborted) return refuseCall(block, ABORTED_TEXT);
    const text = `The tool "${tool.name}" cannot be used: ${getErrorMessage(thrown)}`;
    await run.warn("invalid_tool_schema", text, { tool: tool.name });
    return refuseCall(block, text);
  }
}

const TRUNCATED_TEXT =
  "This tool call was cut off because the reply reached the maximum number of output tokens (max tokens), " +
  "so it was not run. Make the call again with shorter arguments, or split the work into several calls.";

function formatUnreadableArguments(name: string, text: string, reason: string): string {
  const quoted = text.length > MAX_QUOTED_CHARACTERS
    ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}… (${text.length} characters)`
    : text;
  return `The arguments for "${name}" are not a JSON object, so the call was not run: ${reason}\n` +
    `They were: ${quoted}`;
}
