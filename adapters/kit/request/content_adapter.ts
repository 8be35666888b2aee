/**
 * Adapts media to the forms that a provider accepts; loaded for the first request with uncommon content.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";
import type {
  ContentBlock,
  DocumentBlock,
  ImageSource,
  TextBlock,
} from "../../../src/core/messages/content.ts";
import type { LlmMessage } from "../../../src/core/messages/message.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import { decodePercentEncoded } from "../../../src/core/text/percent_encoding.ts";
import { getProviderAliases } from "../../catalog/provider_aliases.ts";
import { decodeBase64Text, toUsualBase64 } from "./base64_text.ts";
import type { ContentAbilities, MediaAbility } from "./content_abilities.ts";
import { createUnreadFileError, getMediaType, type MediaBlock } from "./media.ts";
import { Omissions } from "./omissions.ts";
import { ReplyAdapter } from "./reply_adapter.ts";
import type { WarningSink } from "./warnings.ts";

/** A kind of media in the words of warnings and of the texts that replace it. */
interface MediaKind {
  readonly plural: string;
  readonly replacement: string;
}

const KINDS: Readonly<Record<MediaBlock["type"], MediaKind>> = {
  image: { plural: "images", replacement: "(an image that this model cannot see)" },
  document: { plural: "documents", replacement: "(a document that this model cannot read)" },
  audio: { plural: "audio", replacement: "(an audio clip that this model cannot hear)" },
};

/** Usual names of media types that have several. */
const USUAL_TYPES: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "application/x-pdf": "application/pdf",
  "text/x-markdown": "text/markdown",
  "audio/mp3": "audio/mpeg",
  "audio/wave": "audio/wav",
  "audio/x-wav": "audio/wav",
  "audio/vnd.wave": "audio/wav",
  "audio/x-m4a": "audio/mp4",
};

/** Matches the media types of text. */
const TEXT_TYPES =
  /^text\/|^application\/(?:json|xml|(?:x-)?(?:yaml|toml|sh|javascript|typescript))$|\+(?:json|xml)$/;

/** Replaces content that a provider does not accept, and counts the warnings. */
export class ContentAdapter {
  readonly #provider: string;
  readonly #abilities: ContentAbilities;
  readonly #omissions = new Omissions();
  readonly #replies: ReplyAdapter;

  constructor(model: ModelSpec, abilities: ContentAbilities) {
    this.#provider = model.provider;
    this.#abilities = abilities;
    this.#replies = new ReplyAdapter(model, abilities.replies, this.#omissions);
  }

  /** Adapts messages, and adds a warning for each reason to omit content. */
  adapt(messages: readonly LlmMessage[], sink: WarningSink): readonly LlmMessage[] {
    const adapted = messages.map((message) => {
      if (message.role === "assistant") return this.#replies.adapt(message);
      const content = message.content.flatMap((block) => this.#adaptBlock(block) ?? []);
      return { ...message, content };
    });
    this.#omissions.report(sink);
    return adapted;
  }

  readonly #adaptBlock = (block: ContentBlock): ContentBlock | undefined => {
    switch (block.type) {
      case "text":
        return block;
      case "image":
      case "document":
      case "audio":
        return hasSource(block) ? this.#adaptMedia(normalize(block)) : this.#replace(
          block,
          `The ${KINDS[block.type].plural} have no valid source`,
        );
      default: {
        // Blocks of a reply, or of a type that a caller without types made up.
        const name = block.type === "extension" ? `extension ${block.typeName}` : block.type;
        this.#omissions.add("content_left_out", `Prompts and tool results have no ${name} blocks`);
        return undefined;
      }
    }
  };

  #adaptMedia(block: MediaBlock): ContentBlock {
    const { source } = block;
    if (source.type === "file") throw createUnreadFileError(block, source.path);
    const ability = this.#abilities[block.type];
    const text = block.type === "document" ? toText(block, ability) : undefined;
    if (text?.type === "text") this.#withoutCitations(block);
    if (text) return text.type === "text" ? text : this.#withoutCitations(text, ability);
    const problem = this.#findProblem(block, ability);
    return problem === undefined
      ? this.#withoutCitations(block, ability)
      : this.#replace(block, problem);
  }

  #replace({ type }: MediaBlock, problem: string): TextBlock {
    const { plural, replacement } = KINDS[type];
    this.#omissions.add(`${plural}_left_out`, problem);
    return { type: "text", text: replacement };
  }

  #findProblem(block: MediaBlock, ability: MediaAbility | undefined): string | undefined {
    const { source } = block;
    const { plural } = KINDS[block.type];
    if (isWithoutData(source)) return `The base64 data of the ${plural} is empty or invalid`;
    if (!ability) return `The model does not accept ${plural}`;
    switch (source.type) {
      case "url": {
        if (!ability.urls?.test(source.url)) {
          return `The provider does not fetch ${plural} from such URLs; send base64`;
        }
        // The type of an image at a URL is not known.
        const { urlTypes = ability.types } = ability;
        if (block.type === "image" || urlTypes.test(block.mediaType)) return undefined;
        return `The provider does not fetch ${plural} of type ${block.mediaType}; send base64`;
      }
      case "base64": {
        const mediaType = getMediaType(block) ?? "";
        if (ability.types.test(mediaType)) return undefined;
        return `The provider does not accept ${plural} of type ${mediaType}`;
      }
      default: {
        const isOwn = source.type === "provider_file" &&
          getProviderAliases(source.provider).includes(this.#provider);
        if (isOwn && ability.files) return undefined;
        return `${this.#provider} does not have the files of the ${plural}; send base64`;
      }
    }
  }

  /** Omits the request for citations if the provider does not cite the document, as one that becomes a text. */
  #withoutCitations(block: MediaBlock, ability?: MediaAbility): MediaBlock {
    if (block.type !== "document" || !block.citations || ability?.citations) return block;
    this.#omissions.add("citations_left_out", "The provider does not cite documents");
    const { citations: _citations, ...document } = block;
    return document;
  }
}

/** Whether a block has a source, which blocks of callers without types may lack. */
function hasSource(block: MediaBlock): boolean {
  const source: unknown = block.source;
  if (!isJsonObject(source)) return false;
  switch (source["type"]) {
    case "base64":
      return isString(source["data"]) &&
        isString(block.type === "image" ? source["mediaType"] : block.mediaType);
    case "url":
      return isString(source["url"]) && (block.type === "image" || isString(block.mediaType));
    case "file":
      return isString(source["path"]);
    case "provider_file":
      return isString(source["id"]) && isString(source["provider"]);
    default:
      return false;
  }
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

/** Converts `data:` URLs to base64, base64 to its usual form, and media types to their usual names. */
function normalize(block: MediaBlock): MediaBlock {
  const decoded = block.source.type === "url" ? parseDataUrl(block.source.url) : undefined;
  if (block.type !== "image") {
    const { source } = block;
    const mediaType = toUsualType(block.mediaType);
    const { data } = decoded ?? (source.type === "base64" ? source : {});
    if (data === undefined) return { ...block, mediaType };
    return { ...block, mediaType, source: { type: "base64", data: toUsualBase64(data) } };
  }
  const image: ImageSource = decoded ?? block.source;
  if (image.type !== "base64") return block;
  const { mediaType, data } = image;
  const type = toUsualType(mediaType);
  return { ...block, source: { type: "base64", mediaType: type, data: toUsualBase64(data) } };
}

function isWithoutData(source: MediaBlock["source"]): boolean {
  return source.type === "base64" && source.data === "";
}

function toUsualType(mediaType: string): string {
  const [name = ""] = mediaType.toLowerCase().split(";");
  return USUAL_TYPES[name.trim()] ?? name.trim();
}

function parseDataUrl(url: string): Extract<ImageSource, { type: "base64" }> | undefined {
  const [, mediaType = "", parameters = "", text = ""] =
    /^data:([^;,]*)(;[^,]*)?,(.*)$/is.exec(url) ?? [];
  if (mediaType === "") return undefined;
  const data = /;base64$/i.test(parameters) ? text : encodeText(text);
  return { type: "base64", mediaType, data };
}

function encodeText(text: string): string {
  const bytes = new TextEncoder().encode(decodePercentEncoded(text));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Converts a document of text to plain text, or to a text block where the provider does not accept documents. */
function toText(
  block: DocumentBlock,
  ability: MediaAbility | undefined,
): TextBlock | DocumentBlock | undefined {
  const { mediaType, source, name } = block;
  if (source.type !== "base64" || !TEXT_TYPES.test(mediaType)) return undefined;
  if (isWithoutData(source)) return undefined;
  if (ability?.types.test(mediaType)) return undefined;
  if (ability?.types.test("text/plain")) return { ...block, mediaType: "text/plain" };
  const title = name?.trim() ? `Document "${name}":` : "Document:";
  return { type: "text", text: `${title}\n\n${decodeBase64Text(source.data)}` };
}
