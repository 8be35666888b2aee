/**
 * A tool that starts sub-agents.
 *
 * @module
 */

import { Agent } from "../agent/agent.ts";
import {
  addNote,
  runSubAgent,
  type RunSubAgentOptions,
  type SubAgentRun,
} from "../agent/run_sub_agent.ts";
import { toAgentToolResult } from "../agent/to_agent_tool_result.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { SubAgentMode, SubAgentSession } from "../core/events/run_session.ts";
import { formatSubAgentReport } from "../core/events/sub_agent_report.ts";
import type { JsonSchema } from "../core/json/json.ts";
import { extractText } from "../core/messages/content.ts";
import { type AgentToolResult, errorResult, textResult } from "../core/messages/tool_result.ts";
import type { Worktree } from "../core/ports/worktree_port.ts";
import { checkTools } from "../core/tools/check_tool.ts";
import { type AgentTool, defineTool, type ToolContext } from "../core/tools/tool.ts";
import { ParentRun } from "../loop/run/parent_run.ts";
import { bindTools } from "./bind_tools.ts";
import { createChildOptions } from "./child_options.ts";
import { maxDepths, type SelectedTools, selectTools } from "./select_tools.ts";
import {
  checkSubAgentOptions,
  type SubAgentToolOptions,
  type WorktreeTools,
} from "./sub_agent_options.ts";
import { createWorktree, endWorktree } from "./sub_agent_worktree.ts";

/** Maximum number of agents above a sub-agent: only the agent of the host may start one. */
const DEFAULT_MAX_DEPTH = 1;

/** Maximum number of agents that run below one run of the host. */
const DEFAULT_MAX_AGENTS = 50;

/**
 * Creates a tool that starts an agent for a task: with a history of its own, and with tools, model and system prompt of
 * its own if they are given. Its last reply is the result; its usage and cost count towards the run.
 *
 * A sub-agent has no rights of its own. Its tools are tools of the run that starts it, with the same sandbox; the policies
 * of the run guard its turns and calls; the approval of the run decides about its calls, and denies those that a person
 * would be asked about. It is cancelled with the run.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 *
 * @example
 * ```ts
 * import { Agent, defineTool } from "@swink/agent";
 * import { subAgentTool } from "@swink/agent/sub-agents";
 * import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const search = defineTool({
 *   name: "search",
 *   description: "Searches the files.",
 *   parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   readOnly: true,
 *   execute: ({ text }) => `a.ts: ${text}`,
 * });
 * const explore = subAgentTool({
 *   name: "explore",
 *   description: "Answers a question about the files. The prompt is the question.",
 *   readOnly: true,
 * });
 * const agent = new Agent({
 *   model: "any/model",
 *   tools: [search, explore],
 *   streamFn: scriptedStream([
 *     reply([toolCall("explore", { prompt: "Where is main()?" })]),
 *     reply([toolCall("search", { text: "main()" })]), // the sub-agent
 *     reply("In a.ts"), // its report
 *     reply("main() is in a.ts."),
 *   ]),
 * });
 * (await agent.prompt("Where does the program start?")).text; // "main() is in a.ts."
 * ```
 */
export function subAgentTool(options: SubAgentToolOptions): AgentTool {
  checkSubAgentOptions(options);
  const { name, description, readOnly = false, maxDepth = DEFAULT_MAX_DEPTH } = options;
  const tool = defineTool({
    name,
    description,
    readOnly,
    requiresApproval: false,
    // Its calls are decided one by one.
    risk: "read",
    countedBy: "all",
    parameters: createParameters(options),
    execute: ({ prompt, background, detached }, context) => {
      const mode = getMode({ background, detached });
      return startSubAgent(options, { prompt: String(prompt), mode }, context);
    },
  });
  maxDepths.set(tool, maxDepth);
  return tool;
}

interface SubAgentArguments {
  readonly prompt: string;
  readonly mode: SubAgentMode;
}

function getMode(
  { background, detached }: { readonly background: unknown; readonly detached: unknown },
): SubAgentMode {
  if (detached === true) return "detached";
  return background === true ? "background" : "foreground";
}

function createParameters({ background, detached }: SubAgentToolOptions): JsonSchema {
  const task = "The task, with all that is needed to do it; the agent knows nothing else.";
  const later = "Whether to continue at once; the report then arrives as a later message.";
  const after =
    "Whether to continue at once and to let the agent work after your last reply, too; " +
    "the report then arrives as a later message.";
  return {
    type: "object",
    properties: {
      prompt: { type: "string", description: task },
      ...(background && { background: { type: "boolean", description: later } }),
      ...(detached && { detached: { type: "boolean", description: after } }),
    },
    required: ["prompt"],
    additionalProperties: false,
  };
}

/** Starts a sub-agent in the worktree and with the limits of the options; an obstacle is an error result. */
async function startSubAgent(
  options: SubAgentToolOptions,
  { prompt, mode }: SubAgentArguments,
  { run, context, toolCallId, signal, onEvent }: ToolContext,
): Promise<AgentToolResult> {
  if (!(run instanceof ParentRun)) {
    return errorResult("A sub-agent can be started only by an agent of the same process");
  }
  const { maxDepth = DEFAULT_MAX_DEPTH, maxAgents = DEFAULT_MAX_AGENTS } = options;
  const parent = run.withLimits({ maxDepth, maxAgents });
  const obstacle = parent.findExcess() ??
    (mode === "detached" ? findDetachedObstacle(parent) : undefined);
  if (obstacle) return refuseStart(obstacle);
  const start = await createWorktree(options, { signal, onEvent });
  if (start.type === "failed") return refuseStart(start.reason);
  const { worktree } = start;
  const call: SubAgentCall = { parent, prompt, options, toolCallId, mode, context, worktree };
  switch (mode) {
    case "foreground":
      return toResult(await runInCall(call, { signal, onEvent }));
    case "background":
      run.background((channel) => runInBackground(call, channel));
      return textResult(STARTED_TEXT);
    case "detached":
      await startDetached(call);
      return textResult(STARTED_TEXT);
  }
}

function refuseStart(reason: string): AgentToolResult {
  return errorResult(`The sub-agent was not started: ${reason}`);
}

const STARTED_TEXT = "The agent works in the background. Its report arrives as a later message.";

/** Returns the reason why a run can start no detached agents; `undefined` if it can. */
function findDetachedObstacle({ session, depth }: ParentRun): string | undefined {
  if (depth > 0) return "only the agent of the host can start agents that outlive its run";
  if (session) return undefined;
  return "an agent that outlives the run needs a session, in which its report is recorded: " +
    "record the agent with openSession(), or call the tool without `detached`";
}

/** The call of a tool that starts sub-agents. */
interface SubAgentCall extends Pick<RunSubAgentOptions, "prompt" | "toolCallId" | "context"> {
  readonly parent: ParentRun;
  readonly options: SubAgentToolOptions;
  readonly mode: SubAgentMode;
  readonly worktree: Worktree | undefined;
}

/** Runs a sub-agent until it ends. */
async function runInCall(
  call: SubAgentCall,
  channel: Pick<RunSubAgentOptions, "signal" | "onEvent" | "onFailureRecorded">,
): Promise<SubAgentRun> {
  const { agent, warning, conclude } = await createSubAgent(call);
  const { parent: run, options: { name }, ...start } = call;
  if (warning) await channel.onEvent(warning);
  return await runSubAgent(agent, { ...start, ...channel, run, name, conclude });
}

/**
 * Runs a sub-agent and returns its report. Of a run with a session, the session delivers it, also that of a failure, since
 * it must survive a crash before it arrives.
 */
async function runInBackground(
  call: SubAgentCall,
  channel: Pick<RunSubAgentOptions, "signal" | "onEvent">,
): Promise<string | []> {
  const { parent, options: { name }, toolCallId } = call;
  let isRecorded = false;
  const onFailureRecorded = (): void => {
    isRecorded = true;
  };
  try {
    const result = await runInCall(call, { ...channel, onFailureRecorded });
    return parent.session ? [] : formatReport(result, { name, toolCallId });
  } catch (thrown) {
    if (isRecorded) return [];
    throw thrown;
  }
}

/** Starts a sub-agent that no abort of the run reaches; resolves when its session is on disk. */
async function startDetached(call: SubAgentCall): Promise<void> {
  const { agent, warning, conclude } = await createSubAgent(call);
  const { parent: run, options: { name }, ...rest } = call;
  const controller = new AbortController();
  const { signal } = controller;
  const start = { ...rest, name, cancel: (reason?: unknown) => controller.abort(reason) };
  let session: SubAgentSession | undefined;
  try {
    session = await run.session?.startSubAgent(agent, start);
  } catch (thrown) {
    await conclude?.();
    throw thrown;
  }
  const onEvent = (event: AgentEvent): Promise<void> => run.onDetachedEvent(event);
  if (warning) await onEvent(warning);
  // Its failure is recorded in the session.
  runSubAgent(agent, { ...start, run, session, signal, onEvent, conclude }).catch(() => {});
}

/** An agent that is ready to run. */
interface CreatedAgent {
  readonly agent: Agent;
  /** Reports the tools that the run does not have. */
  readonly warning: AgentEvent | undefined;
  /** Ends the use of its worktree, if it has one. */
  readonly conclude: (() => Promise<string>) | undefined;
}

async function createSubAgent(
  { parent, options, worktree }: SubAgentCall,
): Promise<CreatedAgent> {
  const { tools, missing } = selectOwnTools(parent, options);
  const warning = missing.length > 0 ? createWarning(options.name, missing) : undefined;
  let bound: WorktreeTools | undefined;
  const conclude = worktree && (() => endWorktree(worktree, bound?.resource));
  try {
    if (worktree) bound = await options.worktreeTools?.(worktree);
    const own = worktree ? bindTools(tools, checkTools(bound?.tools ?? [])) : tools;
    const child = createChildOptions(parent, own, { ...options, worktree });
    return { agent: new Agent(child), warning, conclude };
  } catch (thrown) {
    await conclude?.();
    throw thrown;
  }
}

function selectOwnTools(
  { settings, tools, depth }: ParentRun,
  options: SubAgentToolOptions,
): SelectedTools {
  const available = tools.filter((tool) => tool !== settings.answerTool);
  const { tools: wanted, readOnly = false } = options;
  return selectTools(available, { wanted, readOnly, depth: depth + 1 });
}

function createWarning(name: string, missing: readonly string[]): AgentEvent {
  const message = `The sub-agent "${name}" does not get tools that its parent does not have: ${
    missing.join(", ")
  }`;
  return { type: "warning", code: "tool_not_inherited", message };
}

function formatReport(
  run: SubAgentRun,
  agent: { readonly name: string; readonly toolCallId: string },
): string {
  const { content, isError } = toResult(run);
  const status = isError ? "failed" : "completed";
  return formatSubAgentReport({ ...agent, status }, extractText(content));
}

/** Returns the report of a sub-agent, with what became of its worktree. */
function toResult({ result, note }: SubAgentRun): AgentToolResult {
  const report = toAgentToolResult(result);
  if (note === "") return report;
  return { ...report, ...textResult(addNote(extractText(report.content), note)) };
}
