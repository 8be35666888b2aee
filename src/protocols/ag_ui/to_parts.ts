/**
 * Contents in the form of AG-UI.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, MediaSource } from "../../core/messages/content.ts";
import type { AgUiPart } from "./ag_ui_event.ts";

/** Returns a content: a text with a line for each block if it has nothing else. */
export function toContent(blocks: readonly ContentBlock[]): string | readonly AgUiPart[] {
  const parts = blocks.flatMap(toPart);
  const texts = parts.flatMap((part) => part.type === "text" ? [part.text] : []);
  return texts.length === parts.length ? texts.join("\n") : parts;
}

/** Files on the server are not sent to a client. */
function toPart(block: ContentBlock): AgUiPart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "image":
      return toMedia("image", getMediaType(block), block.source);
    case "document":
    case "audio":
      return toMedia(block.type, block.mediaType, block.source);
    case "thinking":
    case "tool_call":
    case "extension":
      return [];
  }
}

function getMediaType({ source }: ImageBlock): string {
  return source.type === "base64" ? source.mediaType : "";
}

function toMedia(
  type: "image" | "document" | "audio",
  mimeType: string,
  source: MediaSource,
): AgUiPart[] {
  const media = mimeType !== "" && { mimeType };
  switch (source.type) {
    case "base64":
      return [{ type, source: { type: "data", value: source.data, mimeType } }];
    case "url":
      return [{ type, source: { type: "url", value: source.url, ...media } }];
    case "provider_file":
      return [{ type, source: { type: "file", value: source.id, provider: source.provider } }];
    case "file":
      return [];
  }
}
