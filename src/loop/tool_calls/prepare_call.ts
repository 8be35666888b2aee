/**
 * The stages of a tool call before approval: resolves the tool, validates the arguments, calls the policies.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { PreDispatchContext } from "../../core/hooks/policy.ts";
import { cloneJson, type JsonObject } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { formatErrors, getIgnored } from "../../core/schemas/compile_schema.ts";
import { formatIgnored, type ValidationResult } from "../../core/schemas/schema.ts";
import type { FinishedCall } from "../../core/streams/accumulate.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { validateArguments } from "../../core/tools/validate_arguments.ts";
import { isUsable } from "../model_call/usable_tools.ts";
import { callPolicy, parseVerdict } from "../run/policy_slots.ts";
import type { RunServices } from "../run/run_services.ts";
import { createPolicyContext, type TurnContext } from "../run/turn_context.ts";
import { getAbortText } from "./cancel_text.ts";
import {
  type PreparedCall,
  type ReadyCall,
  refuseCall,
  type RefusedCall,
} from "./prepared_call.ts";
import { reportRefusedCall } from "./refused_calls.ts";
import { copyArguments } from "./to_decision.ts";

/** Maximum number of characters of unreadable arguments that are quoted to the model. */
const MAX_QUOTED_CHARACTERS = 500;

const TRUNCATED_TEXT =
  "This tool call was cut off because the reply reached the maximum number of output tokens (max tokens), " +
  "so it was not run. Make the call again with shorter arguments, or split the work into several calls.";

/** Resolves the tool of a call and validates its arguments; the result is a promise only if that takes time. */
export function resolveCall(
  turn: TurnContext,
  tools: readonly AgentTool[],
  { block, state }: FinishedCall,
): PreparedCall | Promise<PreparedCall> {
  const tool = tools.find(({ name }) => name === block.name);
  if (!tool || !isUsable(turn, tool)) {
    const usable = tools.filter((tool) => isUsable(turn, tool));
    const names = usable.map(({ name }) => name).join(", ") || "none";
    return refuseCall(block, `Tool "${block.name}" not found. Available tools: ${names}.`);
  }
  switch (state.type) {
    case "truncated":
      return refuseCall(block, TRUNCATED_TEXT);
    case "invalid":
      return refuseCall(block, formatUnreadableArguments(block.name, state));
    case "complete": {
      const { arguments: args } = block;
      const ready: ReadyCall = {
        type: "ready",
        block,
        tool,
        arguments: args,
        input: args,
        changed: false,
      };
      return validateCall(turn, ready);
    }
  }
}

/** A call after the policies. */
export interface PolicyCheckedCall {
  /** The call, with the arguments as modified by the policies. */
  readonly call: PreparedCall;
  /** The policy that stops the run, if one does. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
}

/** Options for `checkPolicies()`. */
interface CheckOptions {
  /** Whether a person has approved the arguments. Default: `false`. */
  readonly final?: boolean;
}

/**
 * Calls the `preDispatch` policies with a call; arguments that they modify are validated again. The arguments of a
 * `final` call, which a person has approved, stay as they are.
 */
export async function checkPolicies(
  turn: TurnContext,
  ready: ReadyCall,
  options: CheckOptions = {},
): Promise<PolicyCheckedCall> {
  const checked = await callPreDispatch(turn, ready, options);
  // At once, so that what a policy has reserved for it is free for the other calls of the batch.
  if (checked.call.type === "refused") await reportRefusedCall(turn, ready);
  return checked;
}

async function callPreDispatch(
  turn: TurnContext,
  ready: ReadyCall,
  { final = false }: CheckOptions,
): Promise<PolicyCheckedCall> {
  const { run, cancellation } = turn;
  const { block } = ready;
  const policies = run.config.policies.filter((policy) => policy.preDispatch);
  if (policies.length === 0) return { call: ready, injected: [] };
  const injected: AgentMessage[] = [];
  let args = ready.arguments;
  for (const policy of policies) {
    const context = createDispatchContext(turn, ready, args);
    const { arguments: draft } = context;
    const outcome = await callPolicy(run, policy, {
      hook: "preDispatch",
      cancellation,
      call: () => policy.preDispatch?.(context),
      parse: (returned) => ({
        verdict: parseVerdict(returned, ["stop", "inject", "skip"]),
        args: final ? args : copyArguments(draft),
      }),
    });
    if (outcome.type === "failed") {
      const text = `Tool call refused: the policy "${policy.name}" failed: ${outcome.reason}`;
      return { call: refuseCall(block, text), injected };
    }
    const { verdict } = outcome.value;
    args = outcome.value.args;
    switch (verdict?.type) {
      case "inject":
        injected.push(...verdict.messages);
        break;
      case "skip":
        return { call: refuseCall(block, `Tool call refused: ${verdict.reason}`), injected };
      case "stop": {
        // An `onDelta` stop may have come first.
        const stoppedBy = turn.monitor?.stoppedBy ??
          { policy: policy.name, reason: verdict.reason };
        return { call: ready, stoppedBy, injected };
      }
    }
  }
  return { call: await withArguments(turn, ready, args), injected };
}

/** Creates the context of a policy for a call, with a copy of the arguments that the policy may change. */
function createDispatchContext(
  turn: TurnContext,
  { block, tool }: ReadyCall,
  args: JsonObject,
): PreDispatchContext {
  return createPolicyContext(turn, {
    toolCallId: block.id,
    tool,
    arguments: cloneJson(args) as Record<string, unknown>,
    timeoutMs: tool.timeoutMs ?? turn.run.config.toolTimeoutMs,
  });
}

/** Returns the call with a validated copy of new arguments, or the same call if they are equal. */
export async function withArguments(
  turn: TurnContext,
  ready: ReadyCall,
  args: JsonObject,
): Promise<PreparedCall> {
  if (JSON.stringify(args) === JSON.stringify(ready.arguments)) return ready;
  return await validateCall(turn, { ...ready, arguments: args, input: args, changed: true });
}

function validateCall(
  turn: TurnContext,
  ready: ReadyCall,
): PreparedCall | Promise<PreparedCall> {
  const { run } = turn;
  try {
    const pending = validateArguments(ready.tool, ready.arguments, run.config.validator);
    return pending instanceof Promise
      ? awaitValidation(turn, ready, turn.cancellation.withGrace(pending))
      : finishValidation(turn, ready, pending);
  } catch (thrown) {
    return refuseUncheckedCall(turn, ready, thrown);
  }
}

async function awaitValidation(
  turn: TurnContext,
  ready: ReadyCall,
  pending: Promise<ValidationResult<unknown>>,
): Promise<PreparedCall> {
  try {
    return await finishValidation(turn, ready, await pending);
  } catch (thrown) {
    return await refuseUncheckedCall(turn, ready, thrown);
  }
}

function finishValidation(
  { run }: TurnContext,
  ready: ReadyCall,
  result: ValidationResult<unknown>,
): PreparedCall | Promise<PreparedCall> {
  const { block, tool } = ready;
  const prepared = result.valid
    ? withInput(ready, result.value)
    : refuseCall(block, `Invalid arguments for "${tool.name}":\n${formatErrors(result.errors)}`);
  const warned = warnAboutSchema(run, tool);
  return warned ? warned.then(() => prepared) : prepared;
}

function withInput(ready: ReadyCall, input: unknown): ReadyCall {
  return input === ready.input ? ready : { ...ready, input };
}

/** Refuses a call whose arguments could not be checked. */
async function refuseUncheckedCall(
  turn: TurnContext,
  { block, tool }: ReadyCall,
  thrown: unknown,
): Promise<RefusedCall> {
  const { run, cancellation } = turn;
  if (cancellation.aborted) return refuseCall(block, getAbortText(turn));
  const text = `The tool "${tool.name}" cannot be used: ${getErrorMessage(thrown)}`;
  await run.events.warn("invalid_tool_schema", text, { tool: tool.name });
  return refuseCall(block, text);
}

/** Emits one warning per tool with the keywords of its schema that are not checked. */
function warnAboutSchema(run: RunServices, tool: AgentTool): Promise<void> | undefined {
  const ignored = getIgnored(tool.parameters, run.config.validator);
  if (ignored.length === 0 || run.warnedTools.has(tool)) return undefined;
  run.warnedTools.add(tool);
  const message = `A part of the schema of the tool "${tool.name}" is ignored: ${
    formatIgnored(ignored)
  }`;
  return run.events.warn("tool_schema_ignored", message, { tool: tool.name });
}

function formatUnreadableArguments(
  name: string,
  { text, reason }: { readonly text: string; readonly reason: string },
): string {
  const quoted = text.length > MAX_QUOTED_CHARACTERS
    ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}… (${text.length} characters)`
    : text;
  return `The arguments for "${name}" are not a JSON object, so the call was not run: ${reason}\n` +
    `They were: ${quoted}`;
}
