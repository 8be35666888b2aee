/**
 * The choice of a tool in a request whose tools a policy has changed.
 *
 * @module
 */

import type { ToolChoice } from "../../core/streams/stream.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import type { PreparedRequest } from "./request.ts";

/** Returns a request whose choice of tools it can fulfil: a provider refuses one that names a tool that is left out. */
export function withPossibleChoice(request: PreparedRequest): PreparedRequest {
  const { tools, options } = request;
  const { toolChoice } = options;
  return toolChoice === undefined || isPossible(toolChoice, tools)
    ? request
    : { ...request, options: { ...options, toolChoice: "auto" } };
}

function isPossible(choice: ToolChoice, tools: readonly AgentTool[]): boolean {
  return typeof choice === "object"
    ? tools.some(({ name }) => name === choice.name)
    : choice !== "required" || tools.length > 0;
}
