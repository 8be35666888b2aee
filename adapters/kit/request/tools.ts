/**
 * Tools of a request.
 *
 * @module
 */

import type { StreamRequest, ToolSpec } from "../../../src/core/streams/stream.ts";
import type { WarningSink } from "./warnings.ts";

/** Sorts tools by name, so that the same tools always result in the same prompt, which the provider can cache. */
export function sortTools(tools: readonly ToolSpec[]): ToolSpec[] {
  return [...tools].sort((left, right) => compare(left.name, right.name));
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Returns a request without a tool choice that its tools cannot satisfy, which is omitted with a warning. */
export function omitImpossibleToolChoice(request: StreamRequest, sink: WarningSink): StreamRequest {
  const problem = findToolChoiceProblem(request);
  if (problem === undefined) return request;
  sink.warning("tool_choice_left_out", problem);
  const { toolChoice: _toolChoice, ...options } = request.options;
  return { ...request, options };
}

function findToolChoiceProblem({ context, options }: StreamRequest): string | undefined {
  const { toolChoice, serverTools = [] } = options;
  // The provider knows the names of its own tools.
  if (serverTools.length > 0) return undefined;
  if (typeof toolChoice === "object") {
    const isKnown = context.tools.some(({ name }) => name === toolChoice.name);
    return isKnown
      ? undefined
      : `toolChoice names "${toolChoice.name}", which is not a tool of the request`;
  }
  const isImpossible = toolChoice === "required" && context.tools.length === 0;
  return isImpossible ? "toolChoice requires a call, but the request has no tools" : undefined;
}

/** Whether a request has tools of its own. Warns when it forces a call but only the provider has tools. */
export function canChooseTool({ context, options }: StreamRequest, sink: WarningSink): boolean {
  const { toolChoice } = options;
  if (context.tools.length > 0) return toolChoice !== undefined;
  if (typeof toolChoice === "object" || toolChoice === "required") {
    const message = "The provider does not support a forced call of a server tool";
    sink.warning("tool_choice_left_out", message);
  }
  return false;
}
