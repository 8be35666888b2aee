/**
 * The parts of a reply, which are messages of their own for a client.
 *
 * @module
 */

import type { ContentBlock } from "../../core/messages/content.ts";
import type { AgentMessage, AssistantMessage } from "../../core/messages/message.ts";

/** A part of a reply. */
export interface ReplyPart {
  /** Kind of part. */
  readonly type: "text" | "reasoning";
  /** Index of its block in the reply. */
  readonly contentIndex: number;
}

/** Returns the id of a part that is not the first text of its reply, which has the id of the reply. */
export function createPartId(replyId: string, { type, contentIndex }: ReplyPart): string {
  return `${replyId}-${type}-${contentIndex}`;
}

/**
 * Returns messages with the further texts of a reply in its message, before its calls: as replies of their own they would
 * follow the results of the calls, and a history that ends with one cannot be continued.
 */
export function joinReplies(messages: readonly AgentMessage[]): AgentMessage[] {
  const joined: AgentMessage[] = [];
  const positions = new Map<string, number>();
  /** The contents of the further texts, by the position of their reply. */
  const contents = new Map<number, (readonly ContentBlock[])[]>();
  for (const message of messages) {
    const replyId = findReplyId(message);
    const position = replyId === undefined ? undefined : positions.get(replyId);
    if (
      position !== undefined && joined[position]?.role === "assistant" &&
      message.role === "assistant"
    ) {
      const others = contents.get(position) ?? [];
      contents.set(position, others);
      others.push(message.content);
      continue;
    }
    if (message.id !== undefined) positions.set(message.id, joined.length);
    joined.push(message);
  }
  return joined.map((message, position) => {
    const texts = contents.get(position);
    return texts && message.role === "assistant" ? addTexts(message, texts.flat()) : message;
  });
}

/** Returns the id of the reply whose text a message is; `undefined` if it is another message. */
function findReplyId({ role, id = "" }: AgentMessage): string | undefined {
  return role === "assistant" ? /^([^]+)-text-\d+$/.exec(id)?.[1] : undefined;
}

function addTexts(reply: AssistantMessage, texts: readonly ContentBlock[]): AssistantMessage {
  const firstCall = reply.content.findIndex(({ type }) => type === "tool_call");
  const end = firstCall < 0 ? reply.content.length : firstCall;
  return {
    ...reply,
    content: [...reply.content.slice(0, end), ...texts, ...reply.content.slice(end)],
  };
}
