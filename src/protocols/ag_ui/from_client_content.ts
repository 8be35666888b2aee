/**
 * The contents that a client sends.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ContentBlock, MediaSource } from "../../core/messages/content.ts";
import { readText } from "../web_client/client_json.ts";
import { checkFileId, checkFileUrl } from "../web_client/client_media.ts";

/**
 * Converts a content.
 *
 * @throws {BadRequestError} If it is invalid.
 */
export function toBlocks(content: unknown, path: string): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new BadRequestError(`${path} must be a text or a list`);
  return content.map((part: unknown, index) => toBlock(part, `${path}[${index}]`));
}

function toBlock(part: unknown, path: string): ContentBlock {
  if (!isJsonObject(part)) throw new BadRequestError(`${path} must be an object`);
  const { type, source } = part;
  if (type === "text") return { type, text: readText(part, "text", `${path}.`) };
  if (!isJsonObject(source)) throw new BadRequestError(`${path} has an unsupported type`);
  const mediaType = typeof source["mimeType"] === "string" ? source["mimeType"] : "";
  switch (type) {
    case "image": {
      const media = toSource(source, `${path}.source.`);
      return {
        type,
        source: media.type === "base64" ? { ...media, mediaType } : media,
      };
    }
    case "audio":
    case "document":
      return { type, mediaType, source: toSource(source, `${path}.source.`) };
    default:
      throw new BadRequestError(`${path} has the type ${String(type)}, which is not supported`);
  }
}

/** Returns a source. Files are those of a provider, never of the server. */
function toSource(source: JsonObject, path: string): MediaSource {
  const { type, provider } = source;
  const value = readText(source, "value", path);
  switch (type) {
    case "data":
      return { type: "base64", data: value };
    case "url":
      if (/^data:/i.test(value)) return { type: "url", url: value };
      return { type: "url", url: checkFileUrl(value, `${path}value`) };
    default:
      return {
        type: "provider_file",
        provider: typeof provider === "string" ? provider : "",
        id: checkFileId(value, `${path}value`),
      };
  }
}
