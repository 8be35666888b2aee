/**
 * A reply whose reasoning is a part of its content, as Mistral writes and reads it.
 *
 * @module
 */

import type { ContentBlock } from "../../../src/core/content.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { hasText } from "../../kit/request/history.ts";

/** The `content` field with the reasoning in it; no field when there is no reasoning. */
export function toContentParts(blocks: readonly ContentBlock[]): JsonObject {
  const content = blocks.flatMap(toContentPart);
  return content.some(({ type }) => type === "thinking") ? { content } : {};
}

function toContentPart(block: ContentBlock): JsonObject[] {
  if (block.type === "text") return hasText(block) ? [{ type: "text", text: block.text }] : [];
  if (block.type !== "thinking" || block.thinking === "") return [];
  const { thinking: text, signature } = block;
  const thinking = [{ type: "text", text }];
  return [{ type: "thinking", thinking, closed: true, ...(signature && { signature }) }];
}
