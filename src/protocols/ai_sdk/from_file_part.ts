/**
 * The files of a page as content blocks.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ContentBlock, MediaSource } from "../../core/messages/content.ts";
import { encodeBase64 } from "../../core/text/byte_encoding.ts";
import { checkFileId, checkFileUrl } from "../web_client/client_media.ts";

/** The data of a data URL. */
interface DataUrl {
  /** Its media type; empty if it has none. */
  readonly mediaType: string;
  /** The data as base64. */
  readonly data: string;
}

/**
 * Converts a file part. Files of the server are refused.
 *
 * @throws {BadRequestError} If it is invalid.
 */
export function fromFilePart(part: JsonObject, path: string): ContentBlock {
  const { mediaType: stated, filename, url } = part;
  const data = typeof url === "string" ? parseDataUrl(url) : undefined;
  const mediaType = chooseMediaType(stated, data?.mediaType);
  if (mediaType === undefined) throw new BadRequestError(`${path}mediaType must be a media type`);
  const source = toSource(part, { path, data });
  if (mediaType === "image" || mediaType.startsWith("image/")) {
    return {
      type: "image",
      source: source.type === "base64" ? { ...source, mediaType } : source,
    };
  }
  if (mediaType.startsWith("audio/")) return { type: "audio", mediaType, source };
  return {
    type: "document",
    mediaType,
    source,
    ...(typeof filename === "string" && { name: filename }),
  };
}

/** Returns the media type of a file: the complete one, since a page may state only that it is an image. */
function chooseMediaType(stated: unknown, own = ""): string | undefined {
  const isComplete = (type: unknown): type is string =>
    typeof type === "string" && /^[^/*\s]+\/[^/*\s]+$/.test(type);
  if (isComplete(stated)) return stated;
  if (isComplete(own)) return own;
  return typeof stated === "string" && /^image(\/\*)?$/.test(stated) ? "image" : undefined;
}

function toSource(
  { url, providerReference }: JsonObject,
  { path, data }: { readonly path: string; readonly data: DataUrl | undefined },
): MediaSource {
  const [reference] = isJsonObject(providerReference) ? Object.entries(providerReference) : [];
  if (reference && typeof reference[1] === "string") {
    const [provider, id] = reference;
    return {
      type: "provider_file",
      provider,
      id: checkFileId(id, `${path}providerReference.${provider}`),
    };
  }
  if (data) return { type: "base64", data: data.data };
  return { type: "url", url: checkFileUrl(url, `${path}url`) };
}

/** Returns the data of a data URL; `undefined` if it is another one, or cannot be read. */
function parseDataUrl(url: string): DataUrl | undefined {
  const comma = url.indexOf(",");
  if (!/^data:/i.test(url) || comma < 0) return undefined;
  const [mediaType = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const data = url.slice(comma + 1);
  if (parameters.at(-1)?.toLowerCase() === "base64") return { mediaType, data };
  try {
    return { mediaType, data: encodeBase64(new TextEncoder().encode(decodeURIComponent(data))) };
  } catch {
    return undefined;
  }
}
