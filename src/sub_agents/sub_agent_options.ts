/**
 * The options of a tool that starts sub-agents.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkNumber } from "../core/checks/check_number.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { type ModelSpec, modelSpec } from "../core/models/model.ts";
import type { Worktree, WorktreePort } from "../core/ports/worktree_port.ts";
import type { StreamFn, StreamOptions } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { ToolSelector } from "./select_tools.ts";

/** The tools that work in a worktree. */
export interface WorktreeTools {
  /** The tools. */
  readonly tools: readonly AgentTool[];
  /** Ends what the tools have started, before the worktree is removed; such as a sandbox. Default: none. */
  readonly resource?: AsyncDisposable | undefined;
}

/** Options for `subAgentTool()`. What is not given is that of the run that starts the sub-agent. */
export interface SubAgentToolOptions {
  /** Name by which the model calls the tool. */
  readonly name: string;
  /** Description for the model: what the sub-agent can do, and what its prompt must contain. */
  readonly description: string;
  /** The model. Default: that of the run. */
  readonly model?: ModelSpec | string | undefined;
  /** Calls the model. Default: that of the run. */
  readonly streamFn?: StreamFn | undefined;
  /** Options of its model calls, which replace those of the run one by one. Default: those of the run. */
  readonly streamOptions?: StreamOptions | undefined;
  /** The system prompt. Default: that it works alone, and that its last reply is its report. */
  readonly systemPrompt?: string | undefined;
  /**
   * Its tools: names or tools of the run. One that the run does not have is left out and reported as a `warning` event.
   * Default: all tools of the run.
   */
  readonly tools?: readonly ToolSelector[] | undefined;
  /** Whether it gets only tools that change nothing; its own tool then changes nothing either. Default: `false`. */
  readonly readOnly?: boolean | undefined;
  /** Its policies, in addition to those of the run. Default: none. */
  readonly policies?: readonly Policy[] | undefined;
  /** Maximum number of its turns. Default: that of the run. */
  readonly maxTurns?: number | undefined;
  /** Maximum number of agents above it: 1 if only the agent of the host may start it. Default: 1. */
  readonly maxDepth?: number | undefined;
  /** Maximum number of agents that run below one run of the host. Default: 50. */
  readonly maxAgents?: number | undefined;
  /**
   * Whether the model may start it in the background: the call returns at once, the report arrives as a follow-up, and the
   * run ends after it. Default: `false`.
   */
  readonly background?: boolean | undefined;
  /**
   * Whether the model may start it so that it works also after the end of the run: the call returns at once, and the report
   * arrives in this run or the next one. It needs a session of the agent of the host, which `openSession()` records; only
   * that agent can start it. Neither the end nor an abort of the run cancels it. Default: `false`.
   */
  readonly detached?: boolean | undefined;
  /**
   * Creates a worktree for each sub-agent, such as `gitWorktrees()` of `@swink/agent/tools`. Its report names the branch
   * and the changes, which are not merged. Requires `worktreeTools`. Default: none.
   */
  readonly worktrees?: WorktreePort | undefined;
  /**
   * Returns the tools that work in the directory of a worktree. Of these, the sub-agent gets those with the name of a tool
   * that it would have without a worktree; what decides about rights (`readOnly`, `requiresApproval`, `risk`) is that of
   * the tool of the run. Required with `worktrees`.
   */
  readonly worktreeTools?:
    | ((worktree: Worktree) => WorktreeTools | Promise<WorktreeTools>)
    | undefined;
}

const NAMES: Readonly<Record<keyof SubAgentToolOptions, 1>> = {
  name: 1,
  description: 1,
  model: 1,
  streamFn: 1,
  streamOptions: 1,
  systemPrompt: 1,
  tools: 1,
  readOnly: 1,
  policies: 1,
  maxTurns: 1,
  maxDepth: 1,
  maxAgents: 1,
  background: 1,
  detached: 1,
  worktrees: 1,
  worktreeTools: 1,
};

/**
 * Checks the options of untyped callers; those of the sub-agent itself are checked with its agent.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 */
export function checkSubAgentOptions(options: SubAgentToolOptions): void {
  checkObject(options, 'Pass options such as { name: "research", description: "…" }');
  checkNames(options, Object.keys(NAMES), "subAgentTool()");
  const { model, tools, maxDepth, maxAgents } = options;
  checkWorktreeOptions(options);
  if (model !== undefined) modelSpec(model);
  checkNumber("maxDepth", maxDepth);
  checkNumber("maxAgents", maxAgents);
  for (const name of ["readOnly", "background", "detached"] as const) {
    const { [name]: value } = options;
    if (value === undefined || typeof value === "boolean") continue;
    throw new BadRequestError(`${name} must be true or false, not ${describeValue(value)}`);
  }
  if (tools === undefined || (Array.isArray(tools) && tools.every(isToolChoice))) return;
  throw new BadRequestError(`tools must be a list of tools or names, not ${describeValue(tools)}`);
}

function checkWorktreeOptions({ worktrees, worktreeTools }: SubAgentToolOptions): void {
  if (worktrees === undefined && worktreeTools === undefined) return;
  if (typeof worktrees?.create !== "function") {
    throw new BadRequestError("worktrees must be a port such as that of gitWorktrees()");
  }
  if (typeof worktreeTools === "function") return;
  throw new BadRequestError(
    "worktrees needs worktreeTools, which returns the tools of the directory of a worktree: " +
      "those of the run would change its own directory",
  );
}

function isToolChoice(choice: unknown): boolean {
  return typeof choice === "string" ||
    typeof (choice as { readonly name?: unknown } | null)?.name === "string";
}
