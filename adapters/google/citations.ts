/**
 * Converts the sources of Google's replies.
 *
 * @module
 */

import type { Citation } from "../../src/core/content.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireCandidate } from "./wire.ts";

/** Converts the sources of a search and of recited text, without duplicates. */
export function toCitations(
  { groundingMetadata, citationMetadata }: Pick<
    WireCandidate,
    "groundingMetadata" | "citationMetadata"
  >,
): readonly Citation[] {
  const citations = [
    ...asList(groundingMetadata?.["groundingChunks"]).map(toSourceCitation),
    ...asList(citationMetadata?.["citations"] ?? citationMetadata?.["citationSources"])
      .map((source) => toCitation(source, source)),
  ].filter((citation) => citation !== undefined);
  const distinct = new Map(citations.map((citation) => [toKey(citation), citation]));
  return [...distinct.values()];
}

function toSourceCitation(chunk: JsonObject): Citation | undefined {
  const source = [chunk["web"], chunk["maps"], chunk["image"], chunk["retrievedContext"]]
    .find(isJsonObject);
  return source && toCitation(source, chunk);
}

function toCitation(source: JsonObject, data: JsonObject): Citation | undefined {
  const url = textOrEmpty(source["uri"] ?? source["sourceUri"]);
  const title = textOrEmpty(source["title"]);
  const text = textOrEmpty(source["text"]);
  const shared = { ...(title !== "" && { title }), ...(text !== "" && { text }), data };
  if (url !== "") return { type: "url", url, ...shared };
  return title === "" && text === "" ? undefined : { type: "document", ...shared };
}

function toKey(citation: Citation): string {
  return citation.type === "url" ? citation.url : JSON.stringify(citation.data);
}

function asList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
