import { extractText, extractToolCalls, type LlmMessage, type ModelSpec } from "@swink/agent";
import {
  CALL_ID_RULE,
  isOwnReply,
  TOOL_NAME_RULE,
  toResultText,
  toWireName,
} from "@swink/agent/adapters/kit";

/** Converts the conversation to Acme's messages. */
export function toAcmeMessages(messages: readonly LlmMessage[], model: ModelSpec): object[] {
  return messages.map((message) => {
    switch (message.role) {
      case "user":
        return { from: "user", text: extractText(message.content) };
      case "tool_result":
        return {
          from: "tool",
          call: toWireName(message.toolCallId, CALL_ID_RULE),
          text: toResultText(message),
        };
      case "assistant":
        return {
          from: "model",
          text: extractText(message.content),
          calls: extractToolCalls(message.content).map(({ id, name, arguments: args }) => ({
            id: toWireName(id, CALL_ID_RULE),
            name: toWireName(name, TOOL_NAME_RULE),
            args,
          })),
          // Only the model that created them accepts thinking blocks.
          thinking: isOwnReply(message, model)
            ? message.content.filter(({ type }) => type === "thinking")
            : [],
        };
    }
  });
}
