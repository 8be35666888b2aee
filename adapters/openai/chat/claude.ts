/**
 * Claude models behind gateways with the chat completions API, such as OpenRouter and LiteLLM.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/model.ts";

/** Whether a model is one of Claude, by its id: a gateway passes the tools of a request on to Anthropic. */
export function isClaude({ modelId }: ModelSpec): boolean {
  return /claude/i.test(modelId);
}
