/**
 * Content blocks: the atoms of every message.
 *
 * @module
 */

import type { JsonObject } from "./json.ts";

/** Plain text. */
export interface TextBlock {
  /** Discriminant. */
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** An opaque mark that the provider wants back with this block. */
  readonly signature?: string;
}

/** What a model thought before it answered. */
export interface ThinkingBlock {
  /** Discriminant. */
  readonly type: "thinking";
  /** The reasoning as text; empty when the provider keeps it to itself. */
  readonly thinking: string;
  /** An opaque mark by which the provider verifies the block when it comes back. */
  readonly signature?: string;
  /** `true` when the provider sent the reasoning encrypted; the ciphertext stands in `signature`. */
  readonly redacted?: boolean;
}

/** A model's request to run a tool. */
export interface ToolCallBlock {
  /** Discriminant. */
  readonly type: "tool_call";
  /** Unique within the whole history. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments as the model wrote them; `{}` when they were cut off or no JSON object. */
  readonly arguments: JsonObject;
  /** An opaque mark that the provider wants back with this block. */
  readonly signature?: string;
  /** The raw text of arguments that are still streaming; never part of a finished message. */
  readonly partialJson?: string;
}

/** Where the bytes of an image are. */
export type ImageSource =
  | { readonly type: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "file"; readonly path: string; readonly mediaType?: string };

/** An image in a user message or a tool result. */
export interface ImageBlock {
  /** Discriminant. */
  readonly type: "image";
  /** Where the bytes are. A `file` is read through the host's `readFile` port. */
  readonly source: ImageSource;
}

/** A provider item to be replayed as it is (encrypted reasoning and the like), or an application's own. */
export interface ExtensionBlock {
  /** Discriminant. */
  readonly type: "extension";
  /** Names the kind of item, for example `"openai.reasoning"`. */
  readonly typeName: string;
  /** The item; any JSON value. */
  readonly data: unknown;
}

/** The atomic unit of message content. */
export type ContentBlock = TextBlock | ThinkingBlock | ToolCallBlock | ImageBlock | ExtensionBlock;

/**
 * Joins the text of all text blocks and leaves everything else out.
 *
 * @example
 * ```ts
 * import { extractText } from "@swink/agent";
 *
 * extractText([{ type: "text", text: "Hello, " }, { type: "text", text: "world" }]); // "Hello, world"
 * ```
 */
export function extractText(blocks: readonly ContentBlock[]): string {
  let text = "";
  for (const block of blocks) if (block.type === "text") text += block.text;
  return text;
}

/** The tool calls among blocks, in order. */
export function extractToolCalls(blocks: readonly ContentBlock[]): ToolCallBlock[] {
  return blocks.filter((block): block is ToolCallBlock => block.type === "tool_call");
}
