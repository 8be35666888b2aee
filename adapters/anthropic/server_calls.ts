/**
 * Calls of server tools in earlier replies.
 *
 * @module
 */

import type { AssistantMessage, LlmMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { isOwnReply } from "../kit/request/history.ts";
import { getCallerId } from "./caller.ts";
import { isReplayedItem } from "./replay_rules.ts";
import type { WireBlock } from "./wire.ts";

/** Options for `findReplayedCalls()`. */
export interface ServerCallOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** Whether the request names the container in which calls without a result wait. */
  readonly hasContainer: boolean;
}

/**
 * Returns the ids of the calls of server tools that are sent back: those with a result, which may be in a later reply, and
 * those of the last reply that wait for the results of other tools. The API rejects other calls, as in a reply that was
 * cut off, and results without their call.
 */
export function findReplayedCalls(
  messages: readonly LlmMessage[],
  { model, hasContainer }: ServerCallOptions,
): ReadonlySet<string> {
  const replies = messages.flatMap((message) =>
    message.role === "assistant" && isOwnReply(message, model) ? [message] : []
  );
  const blocks = replies.flatMap(getItems);
  const answered = new Set(blocks.map((block) => block["tool_use_id"]));
  const last = replies.at(-1);
  const isPending = hasContainer && messages.at(-1)?.role === "tool_result" &&
    messages.findLast(({ role }) => role === "assistant") === last;
  const waiting = new Set(isPending && last ? getItems(last).map(({ id }) => id) : []);
  const ids = blocks.filter(isServerCall).map((block) => String(block["id"]));
  return new Set(ids.filter((id) => answered.has(id) || waiting.has(id)));
}

/** Omits the blocks of a reply that belong to calls of server tools that are not sent back. */
export function omitLostCalls(
  blocks: readonly WireBlock[],
  replayed: ReadonlySet<string>,
): WireBlock[] {
  const isReplayed = (id: unknown) => id === undefined || replayed.has(String(id));
  return blocks.flatMap((block) => {
    const hasCaller = isReplayed(getCallerId(block));
    if (block.type !== "tool_use") {
      const callId = isServerCall(block) ? block["id"] : block["tool_use_id"];
      return hasCaller && isReplayed(callId) ? [block] : [];
    }
    const { caller: _caller, ...direct } = block;
    return [hasCaller ? block : direct];
  });
}

function getItems({ content }: AssistantMessage): WireBlock[] {
  return content.flatMap((block) =>
    block.type === "extension" && isReplayedItem(block) ? block.data as WireBlock : []
  );
}

function isServerCall({ type }: WireBlock): boolean {
  return type.endsWith("_tool_use");
}
