/**
 * Converts the citations of Anthropic's replies.
 *
 * @module
 */

import type { Citation } from "../../src/core/messages/content.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireCitation } from "./wire.ts";

const RANGE_UNITS = { char_location: "characters", page_location: "pages" } as const;
const RANGE_FIELDS = {
  characters: ["start_char_index", "end_char_index"],
  pages: ["start_page_number", "end_page_number"],
  blocks: ["start_block_index", "end_block_index"],
} as const;

/** Converts a citation. */
export function toCitation(citation: WireCitation): Citation {
  const text = textOrEmpty(citation.cited_text);
  const quote = text === "" ? {} : { text };
  const url = textOrEmpty(citation.url ?? citation.source);
  const title = textOrEmpty(citation.title ?? citation.document_title);
  const name = title === "" ? {} : { title };
  if (url !== "") return { type: "url", url, ...name, ...quote, data: citation };
  const { document_index: documentIndex } = citation;
  return {
    type: "document",
    ...(typeof documentIndex === "number" && { documentIndex }),
    ...name,
    ...quote,
    ...toRange(citation),
    data: citation,
  };
}

function toRange(citation: WireCitation): Pick<Extract<Citation, { type: "document" }>, "range"> {
  const unit = RANGE_UNITS[citation.type as keyof typeof RANGE_UNITS] ?? "blocks";
  const [start, end] = RANGE_FIELDS[unit].map((field) => citation[field]);
  return typeof start === "number" && typeof end === "number"
    ? { range: { unit, start, end } }
    : {};
}
