/**
 * Assistant content with reasoning parts, in Mistral's format.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import type { ContentBlock } from "../../../src/core/messages/content.ts";
import { hasText } from "../../kit/request/history.ts";

/** Returns the `content` field with text and reasoning, or no field when there is no reasoning. */
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
