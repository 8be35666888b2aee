/**
 * Converts images, documents and audio clips for Bedrock, which accepts them as bytes or from S3.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { DocumentBlock } from "../../src/core/messages/content.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { COMMON_IMAGES } from "../kit/request/adapt_content.ts";
import { decodeBase64Text } from "../kit/request/base64_text.ts";
import type { ContentAbilities, MediaAbility } from "../kit/request/content_abilities.ts";
import { createUnreadFileError, getMediaType, type MediaBlock } from "../kit/request/media.ts";
import type { ModelFamily } from "./families.ts";
import { BEDROCK_REPLAY } from "./replay_rules.ts";
import type { WireBlock } from "./wire.ts";

const PDF = "application/pdf";

const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  [PDF]: "pdf",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/csv": "csv",
  "text/html": "html",
  "text/markdown": "md",
  "text/plain": "txt",
};

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/aac": "aac",
  "audio/flac": "flac",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/opus": "opus",
  "audio/wav": "wav",
  "audio/webm": "webm",
};

const S3_URLS = /^s3:\/\//;
const S3_IMAGES = /^s3:\/\/.*\.(?:png|jpe?g|gif|webp)$/i;

/** Returns the media that a model accepts. */
export function getAbilities(
  modelId: string,
  { images }: Pick<CatalogEntry, "images">,
  { citations, documents }: ModelFamily,
): ContentAbilities {
  const hasAudio = /nova-(?:2-)?(?:omni|sonic)|voxtral/.test(modelId);
  return {
    replies: BEDROCK_REPLAY,
    image: images ? { types: COMMON_IMAGES, urls: S3_IMAGES } : undefined,
    document: images && documents ? { ...createAbility(DOCUMENT_FORMATS), citations } : undefined,
    audio: hasAudio ? createAbility(AUDIO_FORMATS) : undefined,
  };
}

function createAbility(formats: Readonly<Record<string, string>>): MediaAbility {
  const types = Object.keys(formats).map((type) => type.replace(/[.+]/g, "\\$&"));
  return { types: new RegExp(`^(?:${types.join("|")})$`), urls: S3_URLS };
}

/** Converts media to blocks; the names of documents are unique in a request and have few characters. */
export class MediaConverter {
  readonly #names = new Set<string>();
  readonly #citesDocuments: boolean;

  /** Creates a converter; `citesDocuments` is whether the model cites the documents. */
  constructor({ citesDocuments }: { readonly citesDocuments: boolean }) {
    this.#citesDocuments = citesDocuments;
  }

  /** Converts a block. */
  convert(block: MediaBlock): WireBlock {
    switch (block.type) {
      case "image": {
        const format = getImageFormat(block);
        return { image: { format, source: toSource(block) } };
      }
      case "document": {
        const name = this.#createName(block.name);
        return { document: this.#citesDocuments ? toCited(block, name) : toUncited(block, name) };
      }
      case "audio":
        return { audio: { format: AUDIO_FORMATS[block.mediaType], source: toSource(block) } };
    }
  }

  /** Whether a tool result may contain a block: "Citations are not supported in tool result documents". */
  canBeInResult({ type }: MediaBlock): boolean {
    return type !== "document" || !this.#citesDocuments;
  }

  #createName(name = "document"): string {
    const accepted = name.replace(/[^A-Za-z0-9\s()[\]-]/g, "-").replace(/\s+/g, " ").trim();
    const base = accepted.slice(0, 190) || "document";
    let unique = base;
    for (let number = 2; this.#names.has(unique); number++) unique = `${base} (${number})`;
    this.#names.add(unique);
    return unique;
  }
}

/** Whether the API can cite a document: "Only txt and pdf formats are supported when citations are enabled". */
export function canBeCited({ mediaType, source }: DocumentBlock): boolean {
  return mediaType === PDF || (mediaType.startsWith("text/") && source.type === "base64");
}

function toUncited(block: DocumentBlock, name: string): JsonObject {
  return { format: DOCUMENT_FORMATS[block.mediaType], name, source: toSource(block) };
}

/** Converts a document that is cited; the API reads the bytes of one as PDF. */
function toCited(block: DocumentBlock, name: string): JsonObject {
  const { mediaType, source } = block;
  const document = mediaType !== PDF && source.type === "base64"
    ? { format: "txt", name, source: { text: decodeBase64Text(source.data) } }
    : toUncited(block, name);
  return { ...document, citations: { enabled: true } };
}

function getImageFormat(block: MediaBlock): string {
  const { source } = block;
  const type = source.type === "url" ? /\.(\w+)$/.exec(source.url)?.[1] : getMediaType(block);
  return (type ?? "").toLowerCase().replace("image/", "").replace(/^jpg$/, "jpeg");
}

function toSource(block: MediaBlock): WireBlock {
  const { source } = block;
  switch (source.type) {
    case "base64":
      return { bytes: source.data };
    case "url":
      return { s3Location: { uri: source.url } };
    case "provider_file":
      return { s3Location: { uri: source.id } };
    case "file":
      throw createUnreadFileError(block, source.path);
  }
}
