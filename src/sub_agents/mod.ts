/**
 * Sub-agents: agents that a tool starts for a part of the task, with the rights of the run that starts them.
 *
 * With {@linkcode subAgentTool} the model delegates a task to an agent that has the tools of the run, an empty conversation
 * and no more rights, and gets its report. `detached` work continues after the run.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { subAgentTool } from "@swink/agent/sub-agents";
 * import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const explore = subAgentTool({
 *   name: "explore",
 *   description: "Answers a question about the files. The prompt is the question.",
 *   readOnly: true,
 *   streamFn: scriptedStream([reply("main() is in src/main.ts.")]),
 * });
 * const agent = new Agent({
 *   model: "any/model",
 *   tools: [explore],
 *   streamFn: scriptedStream([
 *     reply([toolCall("explore", { prompt: "Where is main()?" })]),
 *     reply("The program starts in src/main.ts."),
 *   ]),
 * });
 * const { text, usage } = await agent.prompt("Where does it start?"); // `usage` includes the sub-agent
 * ```
 *
 * @module
 */

export { subAgentTool } from "./sub_agent_tool.ts";
export type { SubAgentToolOptions, WorktreeTools } from "./sub_agent_options.ts";
export type {
  Worktree,
  WorktreeCreation,
  WorktreeEnd,
  WorktreeOptions,
  WorktreePort,
} from "../core/ports/worktree_port.ts";
export type { ToolSelector } from "./select_tools.ts";
