/**
 * Converts the citations of Bedrock's replies.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { Citation } from "../../src/core/messages/content.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";

const RANGE_UNITS = {
  documentChar: "characters",
  documentPage: "pages",
  documentChunk: "blocks",
} as const;

/** Converts a citation. */
export function toCitation(citation: JsonObject): Citation {
  const location = asObject(citation["location"]);
  const title = textOrEmpty(citation["title"]);
  const text = joinText(citation["sourceContent"]);
  const shared = {
    ...(title !== "" && { title }),
    ...(text !== "" && { text }),
    data: citation,
  };
  const url = textOrEmpty(asObject(location["web"])["url"]);
  return url === ""
    ? { type: "document", ...toRange(location), ...shared }
    : { type: "url", url, ...shared };
}

function toRange(location: JsonObject): Partial<Extract<Citation, { type: "document" }>> {
  for (const [field, unit] of Object.entries(RANGE_UNITS)) {
    const { documentIndex, start, end } = asObject(location[field]);
    if (typeof start !== "number" || typeof end !== "number") continue;
    return {
      ...(typeof documentIndex === "number" && { documentIndex }),
      range: { unit, start, end },
    };
  }
  return {};
}

function joinText(content: unknown): string {
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part) => textOrEmpty(asObject(part)["text"])).join("");
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
