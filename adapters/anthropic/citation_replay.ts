/**
 * Citations of earlier replies in a request.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { WireBlock, WireMessage } from "./wire.ts";

/** Converts a citation of a reply to one of a request, where the API rejects `file_id`. */
export function toWireCitation({ file_id: _fileId, ...citation }: WireBlock): WireBlock {
  return citation as WireBlock;
}

/**
 * Omits the citations of documents that do not precede them at their index, as after a compaction; the index counts the
 * documents of all messages and tool results.
 */
export function omitLostCitations(messages: readonly WireMessage[]): void {
  const titles: unknown[] = [];
  for (const { role, content } of messages) {
    if (role === "user") titles.push(...content.flatMap(findTitles));
    else for (const [index, block] of content.entries()) content[index] = repair(block, titles);
  }
}

/**
 * Returns the titles of a document, or of the documents in a tool result: `null` for one without a title, `undefined` for
 * one that is not cited.
 */
function findTitles(block: JsonObject): readonly unknown[] {
  if (block["type"] === "document") return [block["citations"] && (block["title"] ?? null)];
  const { content } = block;
  return Array.isArray(content) ? content.filter(isJsonObject).flatMap(findTitles) : [];
}

function repair(block: WireBlock, titles: readonly unknown[]): WireBlock {
  const { citations, ...others } = block;
  if (!Array.isArray(citations)) return block;
  const kept = citations.filter((citation) => isValid(citation, titles));
  return kept.length > 0 ? { ...others, citations: kept } : others;
}

function isValid(citation: JsonObject, titles: readonly unknown[]): boolean {
  const { document_index: index, document_title: title } = citation;
  if (index === undefined) return citation["search_result_index"] === undefined;
  return typeof index === "number" && titles[index] !== undefined &&
    titles[index] === (title ?? null);
}
