/**
 * The options of a sub-agent.
 *
 * @module
 */

import type { AgentOptions } from "../agent/options.ts";
import type { AgentTool } from "../core/tool.ts";
import type { ResolvedConfig } from "../loop/config.ts";
import type { ParentRun } from "../loop/parent_run.ts";
import type { Worktree } from "../core/worktree_port.ts";
import { onlyTools } from "./only_tools.ts";
import { relativePaths } from "./relative_paths.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";
import { describeWorktree } from "./worktree_note.ts";

const SYSTEM_PROMPT =
  "You work on one task for another agent. Questions are not answered: decide yourself, and state what you assumed. " +
  "A call that is refused stays refused; look for another way, or report what is missing. " +
  "Your last reply is your report: the result and what the other agent needs to know, without the way to it.";

/** Returns the options of a sub-agent: its own, and otherwise those of its parent. */
export function createChildOptions(
  parent: ParentRun,
  tools: readonly AgentTool[],
  options: SubAgentToolOptions & { readonly worktree?: Worktree | undefined },
): AgentOptions {
  const { config, settings } = parent;
  const { systemPrompt = SYSTEM_PROMPT, policies = [], readOnly = false, worktree } = options;
  return {
    ...pickPorts(config),
    ...pickModel(config, options),
    model: options.model ?? settings.model,
    maxTurns: options.maxTurns ?? config.maxTurns,
    toolTimeoutMs: config.toolTimeoutMs,
    validator: config.validator,
    systemPrompt: worktree ? `${systemPrompt}\n\n${describeWorktree(worktree)}` : systemPrompt,
    tools,
    policies: [
      ...policies,
      onlyTools({ tools, serverTools: config.streamOptions.serverTools ?? [], readOnly }),
      ...(worktree ? [relativePaths(worktree.directory)] : []),
    ],
    parent,
  };
}

type Ports =
  & Pick<ResolvedConfig, "now" | "sleep" | "newId" | "random">
  & Pick<AgentOptions, "readFile">;

function pickPorts({ now, sleep, newId, random, readFile }: ResolvedConfig): Ports {
  return { now, sleep, newId, random, ...(readFile && { readFile }) };
}

/** Returns how models are called. A `streamFn` of its own is called without the key and the prices of the parent. */
function pickModel(config: ResolvedConfig, own: SubAgentToolOptions): Partial<AgentOptions> {
  const { sessionId: _parents, ...streamOptions } = config.streamOptions;
  if (own.streamFn) {
    return { streamFn: own.streamFn, streamOptions: own.streamOptions, retry: config.retry };
  }
  return {
    streamFn: config.streamFn,
    streamOptions: { ...streamOptions, ...own.streamOptions },
    retry: config.retry,
    prices: config.prices,
    getApiKey: config.getApiKey,
    ...(own.model === undefined && { fallback: config.fallback }),
  };
}
