import { isOwnReply, toResultText } from "../../../adapters/kit/request/history.ts";
import { CALL_ID_RULE, toWireName } from "../../../adapters/kit/request/wire_names.ts";
import { extractText, extractToolCalls } from "../../../src/core/content.ts";
import type { LlmMessage } from "../../../src/core/message.ts";
import type { ModelSpec } from "../../../src/core/model.ts";

/** Writes the conversation as Acme takes it. */
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
            name,
            args,
          })),
          // What only the model itself can read goes back to that model alone.
          thoughts: isOwnReply(message, model)
            ? message.content.filter(({ type }) => type === "thinking")
            : [],
        };
    }
  });
}
