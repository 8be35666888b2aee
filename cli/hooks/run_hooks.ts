/**
 * The hooks of a run.
 *
 * @module
 */

import type { AgentToolResult, Policy, PolicyContext, PolicyVerdict } from "../../mod.ts";
import { userMessage } from "../../mod.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { PostTurnContext } from "../../src/policies/mod.ts";
import { resolveAliases } from "../../src/tools/kit/tool_names.ts";
import type { Hook, HookEvent } from "./hook.ts";
import { MAX_MS, splitMatcher } from "./parse_hooks.ts";
import { type HookInput, type HookResult, runHook } from "./run_hook.ts";

/** Replaces the id of the runs of the host, which run one after the other. */
const HOST = "";

/** The events that no hook can prevent. */
const UNBLOCKABLE: readonly HookEvent[] = ["SessionStart", "SessionEnd"];

/** Maximum number of times that hooks keep an agent from ending. */
const MAX_STOPS = 5;

/** Options for `new RunHooks()`. */
export interface RunHooksOptions {
  /** Working directory of the run. */
  readonly cwd: string;
  /** Absolute path of the root of the project. Default: the working directory. */
  readonly projectRoot?: string | undefined;
  /** Kills running hooks. */
  readonly signal: AbortSignal;
  /** Maximum duration of a run, in milliseconds, which ends the hooks of its end, too. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Called with the failure of a hook, as a sentence without a full stop. */
  readonly onWarning: (warning: string) => void;
}

/** The result of the hooks of an event. */
export interface HooksResult {
  /** Reason why one of them blocks. */
  readonly blocked?: string;
  /** Output of the others. */
  readonly output: string;
}

/** Options for `RunHooks.run()`. */
export interface HookSelection {
  /** Name of the tool, for hooks with a matcher. Default: all hooks run. */
  readonly toolName?: string;
  /** Kills running hooks. Default: only that of the run does. */
  readonly signal?: AbortSignal;
}

/** Runs the hooks of a run, in the order of the configuration. */
export class RunHooks {
  readonly #hooks: readonly Hook[];
  readonly #options: RunHooksOptions;
  /** Number of times that hooks have kept an agent from ending, by the id of its run; that of the host is empty. */
  readonly #stops = new Map<string, number>();
  /** Ids of the runs of sub-agents. */
  readonly #subAgents = new Set<string>();
  /** Kill the hooks of runs that have ended without them, by the id of the run. */
  readonly #ends = new Map<string, AbortController>();

  constructor(hooks: readonly Hook[], options: RunHooksOptions) {
    this.#hooks = hooks;
    this.#options = options;
  }

  /** Runs the hooks of an event until the signal is aborted; the first one that blocks ends them, except after a tool call. */
  run(
    event: HookEvent,
    input: HookInput,
    { toolName, signal = this.#options.signal }: HookSelection = {},
  ): Promise<HooksResult> {
    const hooks = this.#hooks.filter((hook) => hook.event === event && matchesTool(hook, toolName));
    return this.#runAll(hooks, input, { ...this.#options, signal });
  }

  /** Runs the hooks of a prompt until the signal is aborted. */
  submit(prompt: string, signal = this.#options.signal): Promise<HooksResult> {
    this.#stops.delete(HOST);
    const hooks = this.#hooks.filter(({ event }) => event === "UserPromptSubmit");
    return this.#runAll(hooks, { prompt }, { ...this.#options, signal });
  }

  async #runAll(
    hooks: readonly Hook[],
    input: HookInput,
    options: RunHooksOptions,
  ): Promise<HooksResult> {
    const outputs: string[] = [];
    const reasons: string[] = [];
    for (const hook of hooks) {
      const result = await runHook(hook, input, options);
      const reason = this.#findBlock(hook, result);
      // The call has run: each hook may add a reason to its result.
      if (reason !== undefined && hook.event === "PostToolUse") reasons.push(reason);
      else if (reason !== undefined) return { blocked: reason, output: "" };
      if (result.type === "passed" && result.output !== "") outputs.push(result.output);
    }
    return {
      ...(reasons.length > 0 && { blocked: reasons.join("\n") }),
      output: outputs.join("\n"),
    };
  }

  /** A hook before a tool call is a guard: one that cannot run blocks the call. */
  #findBlock({ event, command }: Hook, result: HookResult): string | undefined {
    switch (result.type) {
      case "passed":
        return undefined;
      case "blocked":
        if (!UNBLOCKABLE.includes(event)) return result.reason;
        this.#options.onWarning(`hook ${event}: ${result.reason}`);
        return undefined;
      case "unavailable":
        if (event === "PreToolUse") return `the hook ${JSON.stringify(command)}: ${result.reason}`;
        this.#options.onWarning(`hook ${event}: ${result.reason}`);
        return undefined;
      case "failed":
        this.#options.onWarning(`hook ${event}: ${result.reason}`);
        return undefined;
    }
  }

  /** The policy that runs the hooks of tool calls, of summaries and of the end of the run. */
  get policy(): Policy {
    return {
      name: "hooks",
      preDispatch: async (context) => {
        const { tool: { name }, arguments: args } = context;
        const input = { tool_name: name, tool_input: args };
        const signal = this.#getSignal(context);
        const { blocked } = await this.run("PreToolUse", input, { toolName: name, signal });
        return blocked === undefined ? undefined : { type: "skip", reason: blocked };
      },
      postDispatch: async (context) => {
        const { toolCall: { name, arguments: args }, result } = context;
        const input = { tool_name: name, tool_input: args, tool_response: toResponse(result) };
        const signal = this.#getSignal(context);
        const { blocked } = await this.run("PostToolUse", input, { toolName: name, signal });
        return blocked === undefined ? undefined : addText(result, blocked);
      },
      preCompaction: async (context) => {
        const signal = this.#getSignal(context);
        const { blocked } = await this.run("PreCompact", { trigger: "auto" }, { signal });
        return blocked === undefined ? undefined : { type: "stop", reason: blocked };
      },
      // The policies of a run observe its sub-agents, too.
      postTurn: (context) =>
        this.#subAgents.has(context.runId) ? undefined : this.#endTurn("Stop", HOST, context),
      // A limit or an interrupt ends a run without its hooks.
      postLoop: ({ runId }) => {
        this.#ends.get(runId)?.abort();
        this.#ends.delete(runId);
      },
    };
  }

  /** The policy of sub-agents that runs the hooks of their ends. */
  get subAgentPolicy(): Policy {
    return {
      name: "sub_agent_hooks",
      preTurn: ({ runId }) => void this.#subAgents.add(runId),
      postTurn: (context) => this.#endTurn("SubagentStop", context.runId, context),
    };
  }

  /** Runs the hooks of an agent that would end; the reason of one that blocks continues its conversation. */
  async #endTurn(
    event: "Stop" | "SubagentStop",
    agent: string,
    context: PostTurnContext,
  ): Promise<PolicyVerdict> {
    const { message, toolResults, elapsedMs } = context;
    if (message.stopReason !== "stop" || toolResults.length > 0) return undefined;
    const stops = this.#stops.get(agent) ?? 0;
    if (stops >= MAX_STOPS) return undefined;
    const limit = startTimeLimit(this.#options.timeoutMs, elapsedMs);
    const { blocked } = await this.run(event, {
      last_message: extractText(message.content),
      stop_hook_active: stops > 0,
    }, { signal: AbortSignal.any([this.#getSignal(context), limit]) });
    if (limit.aborted) {
      const reason = `The run reached the time limit of ${this.#options.timeoutMs} ms`;
      return { type: "stop", reason };
    }
    if (blocked === undefined) return undefined;
    this.#stops.set(agent, stops + 1);
    return { type: "inject", messages: [userMessage(blocked, this.#options.now())] };
  }

  /** Returns the signal that kills the hooks of a run: when the program is interrupted, and when the run is aborted or ends. */
  #getSignal({ runId, signal }: Pick<PolicyContext, "runId" | "signal">): AbortSignal {
    const end = this.#ends.get(runId) ?? new AbortController();
    this.#ends.set(runId, end);
    return AbortSignal.any([this.#options.signal, signal, end.signal]);
  }
}

/** Returns a signal that is aborted when a run reaches its maximum duration; never without one. */
export function startTimeLimit(timeoutMs = Infinity, elapsedMs = 0): AbortSignal {
  if (timeoutMs === Infinity) return new AbortController().signal;
  return AbortSignal.timeout(Math.min(Math.max(timeoutMs - elapsedMs, 0), MAX_MS));
}

/** Whether a hook is for a tool. Names of other agents are valid, too: `Bash`, `Edit`. */
function matchesTool({ matcher = "*" }: Hook, toolName: string | undefined): boolean {
  if (toolName === undefined || matcher === "" || matcher === "*") return true;
  return splitMatcher(matcher).flatMap(resolveAliases)
    .some((pattern) => new RegExp(`^${pattern.replaceAll(/[*]+/g, ".*")}$`).test(toolName));
}

function toResponse({ content, isError = false }: AgentToolResult): HookInput {
  return { text: extractText(content), is_error: isError };
}

function addText(result: AgentToolResult, text: string): AgentToolResult {
  return { ...result, content: [...result.content, { type: "text", text: `\n${text}` }] };
}
