/**
 * Prompts and contents in both forms.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import type { AgentMessage, UserMessage } from "../../core/messages/message.ts";
import type { AcpContent, AcpUpdate } from "./acp_update.ts";
import { type CallDescriber, describeFor, toChange, toDiffs, toPlan } from "./describe_call.ts";

/**
 * Converts the prompt of a client to a message. Text that the client embeds is part of the prompt, marked with its
 * address; a link is only its address.
 *
 * @throws {BadRequestError} If a part has an unknown type.
 */
export function toUserMessage(prompt: readonly unknown[], timestamp: number): UserMessage {
  return { role: "user", content: prompt.map(toBlock), timestamp };
}

function toBlock(part: unknown): ContentBlock {
  if (!isJsonObject(part)) throw new BadRequestError("A part of the prompt must be an object");
  const { type, text, data, mimeType, uri, resource } = part;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") {
    return { type: "image", source: { type: "base64", mediaType: mimeType, data } };
  }
  if (type === "audio" && typeof data === "string" && typeof mimeType === "string") {
    return { type: "audio", mediaType: mimeType, source: { type: "base64", data } };
  }
  if (type === "resource_link" && typeof uri === "string") return { type: "text", text: uri };
  if (type === "resource" && isJsonObject(resource)) return toResource(resource);
  throw new BadRequestError(`A part of the prompt has the type ${String(type)}, which is unknown`);
}

function toResource({ uri, text, blob, mimeType }: JsonObject): ContentBlock {
  if (typeof text === "string") {
    return { type: "text", text: `<resource uri=${JSON.stringify(uri)}>\n${text}\n</resource>` };
  }
  if (typeof blob !== "string") throw new BadRequestError("A resource needs text or a blob");
  const mediaType = typeof mimeType === "string" ? mimeType : "application/octet-stream";
  if (mediaType.startsWith("image/")) {
    return { type: "image", source: { type: "base64", mediaType, data: blob } };
  }
  return { type: "document", mediaType, source: { type: "base64", data: blob } };
}

/** Returns blocks as contents; what the protocol cannot show is left out. */
export function toContents(blocks: readonly ContentBlock[]): AcpContent[] {
  return blocks.flatMap((block): AcpContent[] => {
    switch (block.type) {
      case "text":
        return [{ type: "text", text: block.text }];
      case "image":
        return block.source.type === "base64"
          ? [{ type: "image", data: block.source.data, mimeType: block.source.mediaType }]
          : [];
      case "audio":
        return block.source.type === "base64"
          ? [{ type: "audio", data: block.source.data, mimeType: block.mediaType }]
          : [];
      case "document":
      case "thinking":
      case "tool_call":
      case "extension":
        return [];
    }
  });
}

/** Returns the updates that show a history. */
export function toHistoryUpdates(
  messages: readonly AgentMessage[],
  describer: CallDescriber,
): AcpUpdate[] {
  return messages.flatMap((message) => toMessageUpdates(message, describer));
}

function toMessageUpdates(message: AgentMessage, describer: CallDescriber): AcpUpdate[] {
  const id = message.id !== undefined && { messageId: message.id };
  switch (message.role) {
    case "user":
      return toContents(message.content).map((content) => ({
        sessionUpdate: "user_message_chunk",
        content,
        ...id,
      }));
    case "assistant":
      return message.content.flatMap((block): AcpUpdate[] => {
        if (block.type === "thinking" && block.thinking !== "") {
          const content = { type: "text", text: block.thinking } as const;
          return [{ sessionUpdate: "agent_thought_chunk", content, ...id }];
        }
        if (block.type === "tool_call") {
          const { id: toolCallId, name, arguments: rawInput } = block;
          const described = describeFor(describer, { name, arguments: rawInput });
          return [{ sessionUpdate: "tool_call", toolCallId, ...described, rawInput }];
        }
        return toContents([block]).map((content) => ({
          sessionUpdate: "agent_message_chunk",
          content,
          ...id,
        }));
      });
    case "tool_result": {
      const { toolCallId, toolName, isError, content, details } = message;
      const entries = toPlan(toolName, details);
      const change = toChange(toolName, details);
      const diffs = isError || !change ? [] : toDiffs([change], describer.toPath);
      const contents = toContents(content).map((content) =>
        ({ type: "content", content }) as const
      );
      return [
        {
          sessionUpdate: "tool_call_update",
          toolCallId,
          status: isError ? "failed" : "completed",
          content: diffs.length > 0 ? diffs : contents,
        },
        ...(entries ? [{ sessionUpdate: "plan", entries } as const] : []),
      ];
    }
    case "custom":
      return [];
  }
}
