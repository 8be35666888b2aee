/**
 * Recovers from an overflow of the context window, once per turn.
 *
 * @module
 */

import type { LlmContext } from "../core/stream.ts";
import { estimateTokens } from "../core/tokens.ts";
import { type PreparedRequest, prepareRequest } from "./request.ts";
import type { TurnContext } from "./turn_context.ts";

/**
 * Prepares the request again with `overflow: true`. Returns `undefined` if there is no `transformContext`, or if its
 * result is not smaller than the rejected context.
 *
 * @throws {AgentError} If a hook throws.
 */
export async function prepareSmallerRequest(
  turn: TurnContext,
  rejected: LlmContext,
): Promise<PreparedRequest | undefined> {
  if (!turn.run.config.transformContext) return undefined;
  const prepared = await prepareRequest(turn, true);
  return countTokens(prepared.context) < countTokens(rejected) ? prepared : undefined;
}

function countTokens(context: LlmContext): number {
  return context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}
