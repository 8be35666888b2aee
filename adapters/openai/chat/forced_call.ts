/**
 * Forced tool calls of models that think.
 *
 * @module
 */

import type { StreamRequest } from "../../../src/core/streams/stream.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { rejectsForcedCalls } from "./claude.ts";
import type { ChatDialect } from "./dialect.ts";

/** Returns a request without what its server rejects together with a forced tool call, which is omitted with a warning. */
export function resolveForcedCall(
  request: StreamRequest,
  { forcedCalls }: Pick<ChatDialect, "forcedCalls">,
  sink: WarningSink,
): StreamRequest {
  const { model, options } = request;
  if (!isForced(request)) return request;
  switch (rejectsForcedCalls(model) ? "never" : forcedCalls?.(model)) {
    case undefined:
      return request;
    case "without_thinking": {
      if (model.thinkingLevel === "off") return request;
      const message = "The model does not support thinking together with a forced tool call";
      sink.warning("thinking_left_out", message);
      return { ...request, model: { ...model, thinkingLevel: "off" } };
    }
    case "never": {
      const message = `${model.modelId} does not support a forced tool call`;
      sink.warning("tool_choice_left_out", message);
      const { toolChoice: _toolChoice, ...others } = options;
      return { ...request, options: others };
    }
  }
}

function isForced({ context, options: { toolChoice } }: StreamRequest): boolean {
  return context.tools.length > 0 && (toolChoice === "required" || typeof toolChoice === "object");
}
