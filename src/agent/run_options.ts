/**
 * Options for one run of an agent.
 *
 * @module
 */

import type { ApprovalDecisions } from "../core/approval/approval.ts";
import { checkNumber } from "../core/checks/check_number.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import type { StreamOptions, ToolChoice } from "../core/streams/stream.ts";
import { checkTools } from "../core/tools/check_tool.ts";
import type { AgentTool, ExpectedContext } from "../core/tools/tool.ts";
import {
  acceptAny,
  type CheckOption,
  checkOwnOptions,
  checkSignal,
  CONFIG_CHECKS,
} from "../loop/run/check_config.ts";
import type { AgentLoopConfig, RunConfig, TurnSettings } from "../loop/run/config.ts";
import type { StructuredOutputOptions } from "./structured_output.ts";

/**
 * Options for one run; they have no effect on later runs.
 *
 * @typeParam Tool The type of the additional tools.
 * @typeParam OwnTool The type of the agent's own tools.
 */
export interface RunOptions<
  Tool extends AgentTool<never> = AgentTool,
  OwnTool extends AgentTool<never> = AgentTool,
> {
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of turns. Default: that of the agent. */
  readonly maxTurns?: number | undefined;
  /** Constraint on tool calls; one that forces a call applies only to the first turn. Default: that of the agent. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Options of the model calls, which replace those of the agent one by one. Default: none. */
  readonly streamOptions?: StreamOptions | undefined;
  /** Tools in addition to those of the agent. Default: none. */
  readonly tools?: readonly Tool[] | undefined;
  /** Policies that follow those of the agent. Default: none. */
  readonly policies?: readonly Policy[] | undefined;
  /** Value for tools, approvals and policies; never sent, stored or logged. Default: that of the agent. */
  readonly context?: ExpectedContext<Tool | OwnTool> | undefined;
}

/** Options for a run that continues the history. */
export interface ContinueOptions<
  Tool extends AgentTool<never> = AgentTool,
  OwnTool extends AgentTool<never> = AgentTool,
> extends RunOptions<Tool, OwnTool> {
  /** The decisions on the pending approvals, by the id of the tool call; one for each of them. */
  readonly approvals?: ApprovalDecisions | undefined;
}

/** The options of every method that starts a run. */
const CHECKS: Readonly<Record<keyof (ContinueOptions & StructuredOutputOptions), CheckOption>> = {
  signal: checkSignal,
  maxTurns: CONFIG_CHECKS.maxTurns,
  toolChoice: CONFIG_CHECKS.toolChoice,
  streamOptions: CONFIG_CHECKS.streamOptions,
  tools: acceptAny,
  policies: CONFIG_CHECKS.policies,
  context: acceptAny,
  approvals: acceptAny,
  maxRetries: checkNumber,
  full: acceptAny,
};

/**
 * Returns the configuration of one run.
 *
 * @throws {BadRequestError} If an option is unknown or invalid, or a tool has the name of another one.
 */
export function applyRunOptions(
  config: AgentLoopConfig,
  options: RunOptions,
  getSettings: () => TurnSettings,
): RunConfig {
  const { model, tools: ownTools } = getSettings();
  addRunTools(ownTools, options);
  checkOwnOptions(options, CHECKS, "the run");
  const { maxTurns, toolChoice, tools, policies = [], streamOptions, context } = options;
  return {
    ...config,
    // An API key is sent to the provider of this model only; that of the run is for the current one.
    model: streamOptions?.apiKey === undefined ? config.model : model,
    extraProvider: (streamOptions?.extra ? model : config.model).provider,
    maxTurns: maxTurns ?? config.maxTurns,
    toolChoice: toolChoice ?? streamOptions?.toolChoice ?? config.toolChoice,
    streamOptions: { ...config.streamOptions, ...omitUndefined(streamOptions) },
    policies: [...(config.policies ?? []), ...policies],
    context: context === undefined ? config.context : context,
    settings: tools && tools.length > 0 ? addTools(getSettings, tools) : getSettings,
  };
}

/**
 * Refuses approvals for a prompt, which would decline the calls that an untyped caller means to approve.
 *
 * @throws {BadRequestError} If the options have approvals.
 */
export function refuseApprovals({ approvals }: Pick<ContinueOptions, "approvals">): void {
  if (approvals !== undefined) {
    throw new BadRequestError("Pass the approvals to continue() instead");
  }
}

/**
 * Returns the tools of an agent and those of a run.
 *
 * @throws {BadRequestError} If the options are not an object, or a tool is invalid or has the name of another one.
 */
export function addRunTools(
  tools: readonly AgentTool[],
  options: { readonly tools?: readonly AgentTool<never>[] | undefined },
): readonly AgentTool[] {
  checkObject(options, "Pass options such as { maxTurns: 5 }");
  const { tools: added = [] } = options;
  return checkTools([...tools, ...checkTools(added as readonly AgentTool[])]);
}

/** Returns the options that are set; the others are those of the agent. */
function omitUndefined(options: StreamOptions = {}): StreamOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/**
 * Adds tools to the settings; the same array as long as the agent's tools stay the same. A tool that the agent gets later
 * under the name of one of them does not replace it.
 */
function addTools(
  getSettings: () => TurnSettings,
  tools: readonly AgentTool[],
): () => TurnSettings {
  const names = new Set(tools.map(({ name }) => name));
  let own: readonly AgentTool[] | undefined;
  let all: readonly AgentTool[] = [];
  return () => {
    const settings = getSettings();
    if (settings.tools !== own) {
      own = settings.tools;
      all = [...own.filter(({ name }) => !names.has(name)), ...tools];
    }
    return { ...settings, tools: all };
  };
}
