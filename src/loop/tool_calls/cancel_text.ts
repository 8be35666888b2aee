/**
 * The texts of cancelled tool calls, for the model.
 *
 * @module
 */

import type { TurnContext } from "../run/turn_context.ts";

/** Result text of a call that was cancelled by the abort of its run. */
const ABORTED_TEXT = "tool call cancelled: run aborted";

const USER_STEERING_TEXT = "tool call cancelled: user requested steering interrupt";
const STEERING_TEXT = "tool call cancelled: steering interrupt";
const POLICY_TEXT = 'tool call cancelled: the policy "';

/** Returns the text of a call that is cancelled with its turn. */
export function getAbortText({ monitor }: Pick<TurnContext, "monitor">): string {
  const stoppedBy = monitor?.stoppedBy;
  if (!stoppedBy) return ABORTED_TEXT;
  return `${POLICY_TEXT}${stoppedBy.policy}" stopped the run: ${stoppedBy.reason}`;
}

/** Whether a text is that of a call that a policy has cancelled. */
export function isPolicyText(text: string): boolean {
  return text.startsWith(POLICY_TEXT);
}

/** Returns the text of a call that steering cancels. */
export function getSteeringText({ run: { steering } }: Pick<TurnContext, "run">): string {
  const isUser = steering.peek().some(({ role }) => role === "user");
  return isUser ? USER_STEERING_TEXT : STEERING_TEXT;
}

/** Whether a text is that of a call that steering has cancelled. */
export function isSteeringText(text: string): boolean {
  return text === USER_STEERING_TEXT || text === STEERING_TEXT;
}
