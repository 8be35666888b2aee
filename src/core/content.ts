/**
 * The content blocks of messages.
 *
 * @module
 */

import type { JsonObject } from "./json.ts";

/** Plain text. */
export interface TextBlock {
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** Opaque token that the provider expects back with the block. */
  readonly signature?: string;
}

/** Reasoning of a model before its answer. */
export interface ThinkingBlock {
  readonly type: "thinking";
  /** The reasoning as text; empty if the provider does not return it. */
  readonly thinking: string;
  /** Opaque token by which the provider verifies the block in later requests. */
  readonly signature?: string;
  /** Whether the reasoning is encrypted, with the ciphertext in `signature`. Default: `false`. */
  readonly redacted?: boolean;
}

/** A model's request to run a tool. */
export interface ToolCallBlock {
  readonly type: "tool_call";
  /** Id of the call, unique in the history. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments as the model wrote them; `{}` if they were truncated or are not a JSON object. */
  readonly arguments: JsonObject;
  /** Opaque token that the provider expects back with the block. */
  readonly signature?: string;
  /** Raw text of the arguments while they stream; never present in a finished message. */
  readonly partialJson?: string;
}

/** Source of an image: base64 data, a URL that the provider fetches, or a file. */
export type ImageSource =
  | { readonly type: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "file"; readonly path: string; readonly mediaType?: string };

/** An image in a user message or a tool result. */
export interface ImageBlock {
  readonly type: "image";
  /** Source of the image. A `file` is read through `Ports.readFile`. */
  readonly source: ImageSource;
}

/**
 * An item of a provider that later requests send back unchanged (such as encrypted reasoning), or of the application.
 */
export interface ExtensionBlock {
  readonly type: "extension";
  /** Kind of item, such as `"openai.reasoning"`. */
  readonly typeName: string;
  /** The item; any JSON value. */
  readonly data: unknown;
}

/** One block of a message's content. */
export type ContentBlock = TextBlock | ThinkingBlock | ToolCallBlock | ImageBlock | ExtensionBlock;

/**
 * Concatenates the text of all text blocks and ignores the other blocks.
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

/** Returns the tool calls among the blocks, in order. */
export function extractToolCalls(blocks: readonly ContentBlock[]): ToolCallBlock[] {
  return blocks.filter((block): block is ToolCallBlock => block.type === "tool_call");
}
