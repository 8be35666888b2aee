/**
 * Differences of Mistral's requests from OpenAI's.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import { WEB_URLS } from "../kit/request/adapt_content.ts";
import { getFileName, type MediaBlock, toMediaUrl } from "../kit/request/media.ts";
import { hashText } from "../kit/request/wire_names.ts";
import { type ChatDialect, COMPATIBLE } from "../openai/chat/dialect.ts";
import { CHAT_IMAGES, toChatPart } from "../openai/chat/media.ts";
import type { WireMessage } from "../openai/chat/wire.ts";

/** Length of tool call ids, which consist of letters and digits. */
const CALL_ID_LENGTH = 9;

/** Matches models that always think and reject a thinking effort. */
const ALWAYS_THINKING = /^magistral/;

/** Mistral's dialect of chat completions. Mistral rejects unknown fields, including `stream_options`. */
export const MISTRAL_DIALECT: ChatDialect = {
  ...COMPATIBLE,
  needsUsageOption: false,
  hasCacheKey: true,
  toThinkingFields: (model, ability) =>
    ALWAYS_THINKING.test(model.modelId) ? {} : COMPATIBLE.toThinkingFields(model, ability),
  encodeCallId: toMistralCallId,
  hasThinkingParts: true,
  repairOrder: repairMessageOrder,
  getAbilities: (modelId) => ({
    image: CHAT_IMAGES,
    document: { types: /^application\/pdf$/, urls: WEB_URLS, files: true },
    ...(/voxtral/.test(modelId) && { audio: { types: /^audio\//, urls: WEB_URLS } }),
  }),
  toMediaPart: toMistralPart,
  unsupported: ["verbosity", "reasoningSummary"],
  // The reply reports the tier that served it.
  serviceTiers: { auto: "auto", priority: "auto", default: "standard_only" },
  seedField: "random_seed",
  repeatsStart: true,
  serverTools: {
    web_search: { supports: [], create: () => ({ type: "web_search" }) },
    code_execution: { supports: [], create: () => ({ type: "code_interpreter" }) },
    file_search: {
      supports: ["stores"],
      create: ({ stores }) => ({ type: "document_library", library_ids: stores }),
    },
  },
};

/** Converts media to a content part. */
function toMistralPart(block: MediaBlock): JsonObject {
  const { source } = block;
  switch (block.type) {
    case "image":
      return toChatPart(block);
    case "document":
      if (source.type === "provider_file") return { type: "file", file_id: source.id };
      return {
        type: "document_url",
        document_url: toMediaUrl(block),
        document_name: getFileName(block),
      };
    case "audio":
      return {
        type: "input_audio",
        input_audio: source.type === "base64" ? source.data : toMediaUrl(block),
      };
  }
}

/** Returns the id of a tool call if Mistral accepts it, else a hash of it in the accepted form. */
export function toMistralCallId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashText(id, CALL_ID_LENGTH);
}

/**
 * Inserts the assistant message that Mistral requires between a tool result and a user message, and marks an assistant
 * message at the end as the prefix of the reply.
 */
function repairMessageOrder(messages: readonly WireMessage[]): readonly WireMessage[] {
  const repaired = messages.flatMap((message, index) => {
    const isInterruption = message.role === "user" && messages[index - 1]?.role === "tool";
    return isInterruption ? [{ role: "assistant", content: "Noted." }, message] : [message];
  });
  const last = repaired.at(-1);
  const isPrefix = last?.role === "assistant" && last["tool_calls"] === undefined;
  return isPrefix ? [...repaired.slice(0, -1), { ...last, prefix: true }] : repaired;
}
