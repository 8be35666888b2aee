/**
 * Converts content of servers to blocks for the model.
 *
 * @module
 */

import type { ContentBlock } from "../../core/content.ts";
import type {
  ServerContent,
  ServerResource,
  ServerResourceContents,
} from "../protocol/server_lists.ts";

/** Maximum number of characters of the texts of a result; more would fill the context of the model. */
const MAX_TEXT_LENGTH = 100_000;
/** Maximum number of base64 characters of the images, documents and audio clips of a result. */
const MAX_DATA_LENGTH = 20_000_000;

/** The image types that providers accept. */
const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Converts content to blocks, as far as it is not too large. */
export function toContentBlocks(content: readonly ServerContent[]): ContentBlock[] {
  const budget = new ContentBudget();
  return content.flatMap((block) => toBlock(block, budget));
}

/** Converts the contents of a resource to blocks, as far as they are not too large. */
export function toResourceBlocks(contents: readonly ServerResourceContents[]): ContentBlock[] {
  const budget = new ContentBudget();
  return contents.flatMap((resource) => toBlock({ type: "resource", resource }, budget));
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
  const note = (problem: string) =>
    budget.takeText(`[Data of the type ${type} that cannot be shown: ${problem}]`);
  if (!isBase64(data)) return note("it is not base64");
  if (!budget.takeData(data)) return note(`it has ${data.length} characters of base64`);
  if (IMAGE_TYPES.includes(type)) {
    return [{ type: "image", source: { type: "base64", mediaType: type, data } }];
  }
  const source = { type: "base64", data } as const;
  if (type.startsWith("audio/")) return [{ type: "audio", source, mediaType: type }];
  if (type === "application/pdf") return [{ type: "document", source, mediaType: type }];
  return note("the type is not supported");
}

/** Whether a text is base64 as the protocol requires it. */
function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(text);
}

function formatLink({ uri, name, title, description, mimeType }: ServerResource): string {
  const details = [title ?? name, mimeType, description].filter((text) => text !== undefined);
  return `[Link to the resource ${uri}: ${details.join("; ")}]`;
}
