/**
 * The options of a sub-agent.
 *
 * @module
 */

import type { AgentOptions } from "../agent/options.ts";
import { copyCompaction } from "../core/context/copy_transform.ts";
import { modelSpec } from "../core/models/model.ts";
import type { Worktree } from "../core/ports/worktree_port.ts";
import { listExtraTools } from "../core/streams/extra_fields.ts";
import type { ServerTool } from "../core/streams/server_tool.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { ResolvedConfig } from "../loop/run/config.ts";
import { getExtraProvider } from "../loop/run/extra_provider.ts";
import type { ParentRun } from "../loop/run/parent_run.ts";
import { onlyTools } from "./only_tools.ts";
import { relativePaths } from "./relative_paths.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";
import { describeWorktree } from "./sub_agent_worktree.ts";

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
  const model = modelSpec(options.model ?? settings.model);
  return {
    ...pickPorts(config),
    ...pickCalls(config, { ...options, provider: model.provider }),
    model,
    maxTurns: options.maxTurns ?? config.maxTurns,
    toolTimeoutMs: config.toolTimeoutMs,
    validator: config.validator,
    systemPrompt: worktree ? `${systemPrompt}\n\n${describeWorktree(worktree)}` : systemPrompt,
    tools,
    policies: [
      ...policies,
      onlyTools({ tools, serverTools: listServerTools(parent), readOnly }),
      ...(worktree ? [relativePaths(worktree.root ?? worktree.directory)] : []),
    ],
    parent,
  };
}

/** Returns the tools that the provider of a run's model runs, also those in additional fields of the requests. */
function listServerTools({ config }: ParentRun): readonly ServerTool[] {
  const { serverTools = [], extra } = config.streamOptions;
  return [...serverTools, ...listExtraTools(extra, getExtraProvider(config))];
}

type Ports =
  & Pick<ResolvedConfig, "now" | "sleep" | "newId" | "random">
  & Pick<AgentOptions, "readFile">;

function pickPorts({ now, sleep, newId, random, readFile }: ResolvedConfig): Ports {
  return { now, sleep, newId, random, ...(readFile && { readFile }) };
}

/**
 * Returns how models are called. A `streamFn` of its own is called without the keys and the prices of the parent, and a
 * model of another provider without the key and the additional fields of the parent's. The choice of a tool and the schema
 * of the reply are meant for the parent alone. The compaction of the parent, which
 * may send the history to another `streamFn`, applies only without one of its own.
 */
function pickCalls(
  config: ResolvedConfig,
  own: SubAgentToolOptions & { readonly provider: string },
): Partial<AgentOptions> {
  if (own.streamFn) {
    return { streamFn: own.streamFn, streamOptions: own.streamOptions, retry: config.retry };
  }
  const {
    sessionId: _sessionId,
    toolChoice: _toolChoice,
    responseSchema: _responseSchema,
    apiKey,
    extra,
    ...streamOptions
  } = config.streamOptions;
  const isKeyOwner = own.provider === config.model.provider;
  const isExtraOwner = own.provider === getExtraProvider(config);
  return {
    streamFn: config.streamFn,
    streamOptions: {
      ...streamOptions,
      ...(isKeyOwner && apiKey !== undefined && { apiKey }),
      ...(isExtraOwner && extra !== undefined && { extra }),
      ...own.streamOptions,
    },
    retry: config.retry,
    prices: config.prices,
    getApiKey: config.getApiKey,
    transformContext: copyCompaction(config.transformContext),
    ...(own.model === undefined && { fallback: config.fallback }),
  };
}
