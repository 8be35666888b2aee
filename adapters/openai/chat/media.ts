/**
 * Images, documents and audio clips in chat completions.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import { COMMON_IMAGES, WEB_URLS } from "../../kit/request/adapt_content.ts";
import type { ContentAbilities, MediaAbility } from "../../kit/request/content_abilities.ts";
import { getFileName, type MediaBlock, toMediaUrl } from "../../kit/request/media.ts";

/** Images, which most servers accept. */
export const CHAT_IMAGES: MediaAbility = { types: COMMON_IMAGES, urls: WEB_URLS };
/** PDF documents as files. */
export const CHAT_DOCUMENTS: MediaAbility = { types: /^application\/pdf$/, files: true };
/** Audio clips. */
export const CHAT_AUDIO: MediaAbility = { types: /^audio\/(?:wav|mpeg)$/ };

/** Returns what a model of a compatible server accepts; its name shows whether it hears. */
export function getChatAbilities(modelId: string): ContentAbilities {
  const hearing = /audio|omni|voxtral/i.test(modelId);
  return { image: CHAT_IMAGES, ...(hearing && { audio: CHAT_AUDIO }) };
}

/** Converts media to a content part. */
export function toChatPart(block: MediaBlock): JsonObject {
  const { source } = block;
  switch (block.type) {
    case "image":
      return { type: "image_url", image_url: { url: toMediaUrl(block) } };
    case "document":
      return source.type === "provider_file"
        ? { type: "file", file: { file_id: source.id } }
        : { type: "file", file: { filename: getFileName(block), file_data: toMediaUrl(block) } };
    case "audio": {
      const data = source.type === "base64" ? source.data : toMediaUrl(block);
      const format = block.mediaType === "audio/wav" ? "wav" : "mp3";
      return { type: "input_audio", input_audio: { data, format } };
    }
  }
}
