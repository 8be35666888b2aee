/**
 * The first stages of a tool call: read its arguments, find its tool, validate, ask the policies.
 *
 * @module
 */

import type { FinishedCall } from "../core/accumulate.ts";
import { messageOf } from "../core/errors.ts";
import { cloneJson, type JsonObject } from "../core/json.ts";
import type { AgentMessage } from "../core/message.ts";
import type { PreDispatchVerdict, StoppedBy } from "../core/policy.ts";
import { compileSchema, describeErrors } from "../core/schema.ts";
import type { TurnSettings } from "./config.ts";
import { askPolicy } from "./policy_slots.ts";
import { ABORTED_TEXT, type PreparedCall, type ReadyCall, refused } from "./prepared_call.ts";
import type { RunContext } from "./run_context.ts";

/** How much of unreadable arguments the model gets to see again. */
const QUOTED_CHARACTERS = 500;

/** Finds the tool of a call and validates its arguments. */
export async function checkCall(
  run: RunContext,
  { tools }: TurnSettings,
  { block, state }: FinishedCall,
): Promise<PreparedCall> {
  const tool = tools.find(({ name }) => name === block.name);
  if (!tool) {
    const names = tools.map(({ name }) => name).join(", ") || "none";
    return refused(block, `Tool "${block.name}" not found. Available tools: ${names}.`);
  }
  if (state.type === "cut") return refused(block, CUT_TEXT);
  if (state.type === "unreadable") {
    return refused(block, unreadableText(block.name, state.text, state.reason));
  }
  const ready: ReadyCall = {
    type: "ready",
    block,
    tool,
    arguments: block.arguments,
    changed: false,
  };
  return await validated(run, ready);
}

/** What the policies say to a call. */
export interface PolicedCall {
  /** The call, with the arguments that the policies left. */
  readonly call: PreparedCall;
  /** The policy that ends the run, if one does. */
  readonly stoppedBy?: StoppedBy;
  /** Messages for the next turn. */
  readonly injected: readonly AgentMessage[];
}

/** Asks the policies about a call; arguments that they change are validated again. */
export async function policeCall(
  run: RunContext,
  settings: TurnSettings,
  ready: ReadyCall,
): Promise<PolicedCall> {
  const policies = run.config.policies.filter((policy) => policy.preDispatch);
  if (policies.length === 0) return { call: ready, injected: [] };
  const injected: AgentMessage[] = [];
  let args = ready.arguments;
  for (const policy of policies) {
    const draft = cloneJson(args) as Record<string, unknown>;
    const verdict = await askPolicy<PreDispatchVerdict>(run, policy, async () => {
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
      return { call: refused(ready.block, `Tool call refused: ${verdict.reason}`), injected };
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
  return await validated(run, { ...ready, arguments: cloneJson(args), changed: true });
}

async function validated(run: RunContext, ready: ReadyCall): Promise<PreparedCall> {
  const { block, tool } = ready;
  try {
    const compiling = compileSchema(tool.parameters, run.config.validator);
    const check = compiling instanceof Promise
      ? await run.cancellation.withGrace(compiling)
      : compiling;
    const errors = check(ready.arguments);
    if (errors.length === 0) return ready;
    return refused(block, `Invalid arguments for "${tool.name}":\n${describeErrors(errors)}`);
  } catch (thrown) {
    if (run.cancellation.aborted) return refused(block, ABORTED_TEXT);
    const text = `The tool "${tool.name}" cannot be used: ${messageOf(thrown)}`;
    await run.warn("invalid_tool_schema", text, { tool: tool.name });
    return refused(block, text);
  }
}

const CUT_TEXT =
  "This tool call was cut off because the reply reached the maximum number of output tokens (max tokens), " +
  "so it was not run. Make the call again with shorter arguments, or split the work into several calls.";

function unreadableText(name: string, text: string, reason: string): string {
  const quoted = text.length > QUOTED_CHARACTERS
    ? `${text.slice(0, QUOTED_CHARACTERS)}… (${text.length} characters)`
    : text;
  return `The arguments for "${name}" are not a JSON object, so the call was not run: ${reason}\n` +
    `They were: ${quoted}`;
}
