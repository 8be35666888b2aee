/**
 * Checks the messages of a request that a hook has chosen.
 *
 * @module
 */

import { repairHistory } from "../../core/messages/history.ts";
import type { LlmMessage } from "../../core/messages/message.ts";
import type { RunServices } from "../run/run_services.ts";

/**
 * Returns valid messages for a request, and warns about repairs: providers reject a tool result without its call, which
 * a hook that omits messages may leave.
 */
export async function repairRequest(
  { events }: RunServices,
  hook: string,
  messages: readonly LlmMessage[],
): Promise<readonly LlmMessage[]> {
  const { messages: valid, repairs } = repairHistory(messages);
  if (repairs.length === 0) return messages;
  const text = `${hook} left messages that providers reject; the request was repaired`;
  await events.warn("request_repaired", text, repairs);
  // The repair adds no custom messages.
  return valid as readonly LlmMessage[];
}
