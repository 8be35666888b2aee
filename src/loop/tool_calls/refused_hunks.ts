/**
 * Approvals that refuse a part of the file changes of a call.
 *
 * @module
 */

import type { RefusedHunks } from "../../core/approval/approval.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import { cloneJson } from "../../core/json/json.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { getAbortText } from "./cancel_text.ts";
import { withArguments } from "./prepare_call.ts";
import { type PreparedCall, type ReadyCall, refuseCall } from "./prepared_call.ts";
import { copyArguments } from "./to_decision.ts";

/** Maximum number of characters of refused hunks that are quoted to the model. */
const MAX_QUOTED_CHARACTERS = 10_000;

/** Replaces the arguments of a call by those with which its tool leaves out the refused hunks, or refuses the call. */
export async function omitRefusedHunks(
  turn: TurnContext,
  ready: ReadyCall,
  refused: readonly RefusedHunks[],
): Promise<PreparedCall> {
  const { block, tool, arguments: args } = ready;
  if (refused.every(({ hunks }) => hunks.length === 0)) return ready;
  const refuse = (reason: string) =>
    refuseCall(
      block,
      `Tool call rejected by approval: a part of its changes is refused, and ${reason}`,
    );
  if (!tool.omitHunks) return refuse(`the tool "${tool.name}" can only make all of them`);
  const { cancellation } = turn;
  try {
    const context = { refused: cloneJson(refused), signal: cancellation.signal };
    const omitted = await cancellation.withGrace(tool.omitHunks(cloneJson(args), context));
    const call = await withArguments(turn, ready, copyArguments(omitted));
    if (call === ready) return refuse(`the tool "${tool.name}" did not leave them out`);
    return call.type === "ready" ? { ...call, refusedHunks: refused } : call;
  } catch (thrown) {
    if (cancellation.aborted) return refuseCall(block, getAbortText(turn));
    return refuse(`the others cannot be made alone: ${getErrorMessage(thrown)}`);
  }
}

/** Formats the hunks that were not made, for the model. */
export function formatRefusedHunks(refused: readonly RefusedHunks[]): string {
  const quoted = refused.map(({ path, hunks }) => `${path}\n${hunks.join("")}`).join("\n");
  const isLong = quoted.length > MAX_QUOTED_CHARACTERS;
  return `These parts of the changes were refused, and not made:\n${
    isLong ? `${quoted.slice(0, MAX_QUOTED_CHARACTERS)}…` : quoted
  }`;
}
