/**
 * Claude models behind gateways with the chat completions API, such as OpenRouter and LiteLLM.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/models/model.ts";

/** Whether a model is one of Claude, by its id: a gateway passes the tools of a request on to Anthropic. */
export function isClaude({ modelId }: ModelSpec): boolean {
  return /claude/i.test(modelId);
}

/** Whether a model rejects forced tool calls: "tool_choice: type "tool" and "any" are not supported for this model." */
export function rejectsForcedCalls({ modelId }: ModelSpec): boolean {
  return /claude-(?:(?:fable|mythos)-5[.-]\d|(?:opus|sonnet)-5[.-]5)/i.test(modelId);
}
