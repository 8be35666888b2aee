/**
 * Converts content of servers to blocks for the model.
 *
 * @module
 */

import type { ContentBlock } from "../../core/messages/content.ts";
import { findImageType, SIGNATURE_BYTES } from "../../loop/messages/image_type.ts";
import type {
  ServerContent,
  ServerResource,
  ServerResourceContents,
} from "../protocol/server_lists.ts";

/** Maximum number of characters of the texts of a result; more would fill the context of the model. */
const MAX_TEXT_LENGTH = 100_000;
/** Maximum number of base64 characters of the images, documents and audio clips of a result. */
const MAX_DATA_LENGTH = 20_000_000;

/** Maximum number of blocks of a result. */
const MAX_BLOCKS = 1_000;

/** Converts content to blocks, as far as it is not too large. */
export function toContentBlocks(content: readonly ServerContent[]): ContentBlock[] {
  const budget = new ContentBudget();
  const blocks = content.slice(0, MAX_BLOCKS).flatMap((block) => toBlock(block, budget));
  const omitted = content.length - MAX_BLOCKS;
  return omitted > 0 ? [...blocks, ...createNote(`${omitted} blocks omitted`)] : blocks;
}

/** Converts the contents of a resource to blocks, as far as they are not too large. */
export function toResourceBlocks(contents: readonly ServerResourceContents[]): ContentBlock[] {
  return toContentBlocks(contents.map((resource) => ({ type: "resource", resource })));
}

/** The size of the content that remains. */
class ContentBudget {
  #text = MAX_TEXT_LENGTH;
  #data = MAX_DATA_LENGTH;

  /** Returns a text block, cut to the remaining size; none if nothing remains. */
  takeText(text: string): ContentBlock[] {
    const available = this.#text;
    this.#text = Math.max(0, available - text.length);
    if (text.length <= available) return [{ type: "text", text }];
    if (available === 0) return [];
    const omitted = text.length - available;
    return [{ type: "text", text: `${text.slice(0, available)}\n[${omitted} characters omitted]` }];
  }

  /** Returns whether base64 data fits. */
  takeData(data: string): boolean {
    if (data.length > this.#data) return false;
    this.#data -= data.length;
    return true;
  }
}

function toBlock(block: ServerContent, budget: ContentBudget): ContentBlock[] {
  switch (block.type) {
    case "text":
      return budget.takeText(block.text);
    case "image":
    case "audio":
      return toMediaBlock(block.data, block.mimeType, budget);
    case "resource_link":
      return budget.takeText(formatLink(block));
    case "resource":
      return toResourceBlock(block.resource, budget);
  }
}

function toResourceBlock(
  { uri, mimeType = "application/octet-stream", text, blob = "" }: ServerResourceContents,
  budget: ContentBudget,
): ContentBlock[] {
  const label = budget.takeText(`[Resource ${uri}]`);
  const content = text === undefined ? toMediaBlock(blob, mimeType, budget) : budget.takeText(text);
  return [...label, ...content];
}

function toMediaBlock(data: string, mediaType: string, budget: ContentBudget): ContentBlock[] {
  const type = mediaType.toLowerCase().replace(/;.*/, "").trim();
  const refuse = (problem: string) =>
    createNote(`Data of the type ${type} that cannot be shown: ${problem}`);
  if (data === "") return refuse("it is empty");
  if (!budget.takeData(data)) return refuse(`it has ${data.length} characters of base64`);
  if (type.startsWith("image/")) {
    const mediaType = findImageType(decodeStart(data));
    return mediaType === undefined
      ? refuse("it is no image in a supported format")
      : [{ type: "image", source: { type: "base64", mediaType, data } }];
  }
  const source = { type: "base64", data } as const;
  if (type.startsWith("audio/")) return [{ type: "audio", source, mediaType: type }];
  if (type === "application/pdf") return [{ type: "document", source, mediaType: type }];
  if (TEXT_TYPES.test(type)) {
    const text = decodeText(data);
    return text === undefined ? refuse("it is no UTF-8 text") : budget.takeText(text);
  }
  return refuse("the type is not supported");
}

/** Types of texts, which some servers send as base64. */
const TEXT_TYPES = /^(?:text\/.+|application\/(?:json|xml|yaml|toml|javascript|.+\+(?:json|xml)))$/;

function decodeText(data: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Returns the first bytes of base64 data as Latin-1 text. Servers mislabel images, and a provider would refuse all later
 * requests of a conversation for one.
 */
function decodeStart(data: string): string {
  try {
    return atob(data.slice(0, Math.ceil(SIGNATURE_BYTES / 3) * 4));
  } catch {
    return "";
  }
}

function createNote(text: string): ContentBlock[] {
  return [{ type: "text", text: `[${text}]` }];
}

function formatLink({ uri, name, title, description, mimeType }: ServerResource): string {
  const details = [title ?? name, mimeType, description].filter((text) => text !== undefined);
  return `[Link to the resource ${uri}: ${details.join("; ")}]`;
}
