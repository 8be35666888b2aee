/**
 * Wraps the tools that an agent gets after it was created.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentTool } from "../../core/tools/tool.ts";

/** Wraps the tools of `setTools()`, and those that are passed for one run. */
export function wrapRunTools(agent: Agent, wrap: (tool: AgentTool) => AgentTool): void {
  const wrapAll = (tools: readonly AgentTool<never>[]) =>
    Array.isArray(tools) ? tools.map((tool) => wrap(tool as AgentTool)) : tools;
  const wrapOptions = <
    Options extends { readonly tools?: readonly AgentTool<never>[] | undefined },
  >(
    options: Options | undefined,
  ): Options | undefined =>
    options?.tools ? { ...options, tools: wrapAll(options.tools) } : options;
  const { setTools, prompt, promptStream, structuredOutput } = agent;
  const { continue: continueRun, continueStream } = agent;
  agent.setTools = (tools) => setTools.call(agent, wrapAll(tools));
  agent.prompt = (input, options) => prompt.call(agent, input, wrapOptions(options));
  agent.promptStream = (input, options) => promptStream.call(agent, input, wrapOptions(options));
  agent.continue = (options) => continueRun.call(agent, wrapOptions(options));
  agent.continueStream = (options) => continueStream.call(agent, wrapOptions(options));
  // One function implements all of its overloads.
  type AnyOutput = (input: unknown, schema: unknown, options?: object) => Promise<unknown>;
  const output = structuredOutput as unknown as AnyOutput;
  agent.structuredOutput =
    ((input, schema, options) =>
      output.call(agent, input, schema, wrapOptions(options))) as AnyOutput as typeof agent[
        "structuredOutput"
      ];
}
