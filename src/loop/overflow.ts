/**
 * The one recovery per turn from a context-window overflow.
 *
 * @module
 */

import { estimateTokens } from "../core/tokens.ts";
import type { LlmContext } from "../core/stream.ts";
import type { TurnSettings } from "./config.ts";
import { prepareContext, type PreparedContext } from "./request.ts";
import type { RunContext } from "./run_context.ts";

/**
 * Asks `transformContext` for less than the provider has just refused; `undefined` when there is none, or when
 * it did not find anything to leave out.
 *
 * @throws {AgentError} What a hook threw.
 */
export async function prepareSmallerContext(
  run: RunContext,
  settings: TurnSettings,
  refused: LlmContext,
): Promise<PreparedContext | undefined> {
  if (!run.config.transformContext) return undefined;
  const prepared = await prepareContext(run, settings, true);
  return countTokens(prepared.context) < countTokens(refused) ? prepared : undefined;
}

function countTokens(context: LlmContext): number {
  return context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}
