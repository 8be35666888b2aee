/**
 * A tool that starts sub-agents.
 *
 * @module
 */

import { Agent } from "../agent/agent.ts";
import type { AgentResult } from "../agent/agent_result.ts";
import { toAgentToolResult } from "../agent/to_agent_tool_result.ts";
import { extractText } from "../core/content.ts";
import type { AgentEvent } from "../core/event.ts";
import type { JsonSchema } from "../core/json.ts";
import { type AgentTool, defineTool, type ToolContext } from "../core/tool.ts";
import { type AgentToolResult, errorResult, textResult } from "../core/tool_result.ts";
import { ParentRun } from "../loop/parent_run.ts";
import { createChildOptions } from "./child_options.ts";
import { maxDepths, selectTools } from "./select_tools.ts";
import { checkSubAgentOptions, type SubAgentToolOptions } from "./sub_agent_options.ts";

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
  const { name, description, readOnly = false, maxDepth = 1 } = options;
  const tool = defineTool({
    name,
    description,
    readOnly,
    requiresApproval: false,
    // Its calls are decided one by one.
    risk: "read",
    countedBy: "all",
    parameters: createParameters(options),
    execute: ({ prompt, background }, context) =>
      startSubAgent(
        options,
        { prompt: String(prompt), inBackground: background === true },
        context,
      ),
  });
  maxDepths.set(tool, maxDepth);
  return tool;
}

interface SubAgentArguments {
  readonly prompt: string;
  readonly inBackground: boolean;
}

function createParameters({ background = false }: SubAgentToolOptions): JsonSchema {
  const prompt = {
    type: "string",
    description: "The task, with all that is needed to do it; the agent knows nothing else.",
  };
  const isBackground = {
    type: "boolean",
    description: "Whether to continue at once; the report then arrives as a later message.",
  };
  return {
    type: "object",
    properties: background ? { prompt, background: isBackground } : { prompt },
    required: ["prompt"],
    additionalProperties: false,
  };
}

/** The channel of a sub-agent to its parent. */
interface SubAgentContext {
  readonly signal: AbortSignal;
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  readonly context: unknown;
}

async function startSubAgent(
  options: SubAgentToolOptions,
  { prompt, inBackground }: SubAgentArguments,
  { run, context, toolCallId, signal, onEvent }: ToolContext,
): Promise<AgentToolResult> {
  if (!(run instanceof ParentRun)) {
    return errorResult("A sub-agent can be started only by an agent of the same process");
  }
  const { maxDepth = 1, maxAgents = 50, name } = options;
  const parent = run.withLimits({ maxDepth, maxAgents });
  const excess = parent.findExcess();
  if (excess) return errorResult(`The sub-agent was not started: ${excess}`);
  if (!inBackground) {
    const channel = { signal, onEvent, context };
    return toAgentToolResult(await runSubAgent(parent, prompt, options, channel));
  }
  run.background(async (channel) => {
    const result = await runSubAgent(parent, prompt, options, { ...channel, context });
    return formatReport(toAgentToolResult(result), { name, toolCallId });
  });
  return textResult("The agent works in the background. Its report arrives as a later message.");
}

async function runSubAgent(
  parent: ParentRun,
  prompt: string,
  options: SubAgentToolOptions,
  { signal, onEvent, context }: SubAgentContext,
): Promise<AgentResult> {
  const { tools, missing } = selectOwnTools(parent, options);
  const agent = new Agent(createChildOptions(parent, tools, options));
  if (missing.length > 0) await onEvent(createWarning(options.name, missing));
  const stream = agent.promptStream(prompt, { signal, context });
  for await (const event of stream) await onEvent(event);
  return await stream.result();
}

function selectOwnTools({ settings, depth }: ParentRun, options: SubAgentToolOptions) {
  const available = settings.tools.filter((tool) => tool !== settings.answerTool);
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
  { content, isError }: AgentToolResult,
  { name, toolCallId }: { readonly name: string; readonly toolCallId: string },
): string {
  const status = isError ? "failed" : "has finished";
  return `The agent "${name}", which the call ${toolCallId} started, ${status}. Its report:\n\n${
    extractText(content)
  }`;
}
