/**
 * The content blocks of messages.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";
import type { JsonObject } from "../json/json.ts";

/** Plain text. */
export interface TextBlock {
  readonly type: "text";
  /** The text. */
  readonly text: string;
  /** Opaque token that the provider expects back with the block. */
  readonly signature?: string | undefined;
  /** The sources that the model cites for this text. */
  readonly citations?: readonly Citation[] | undefined;
}

/** A source that a model cites: a web page or a document of the request. */
export type Citation =
  | {
    readonly type: "url";
    /** Address of the page. */
    readonly url: string;
    /** Title of the page. */
    readonly title?: string | undefined;
    /** The cited text of the source. */
    readonly text?: string | undefined;
    /** The provider's own form of the citation; any JSON value, sent back unchanged. */
    readonly data?: unknown;
  }
  | {
    readonly type: "document";
    /** Index of the document among the documents of the request, from 0. */
    readonly documentIndex?: number | undefined;
    /** Name of the document. */
    readonly title?: string | undefined;
    /** The cited text of the document. */
    readonly text?: string | undefined;
    /** The cited range: `end` is exclusive; characters and blocks count from 0, pages from 1. */
    readonly range?: {
      readonly unit: "characters" | "pages" | "blocks";
      readonly start: number;
      readonly end: number;
    };
    /** The provider's own form of the citation; any JSON value, sent back unchanged. */
    readonly data?: unknown;
  };

/** Reasoning of a model before its answer. */
export interface ThinkingBlock {
  readonly type: "thinking";
  /** The reasoning as text; empty if the provider does not return it. */
  readonly thinking: string;
  /** Opaque token by which the provider verifies the block in later requests. */
  readonly signature?: string | undefined;
  /** Whether the reasoning is encrypted, with the ciphertext in `signature`. Default: `false`. */
  readonly redacted?: boolean | undefined;
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
  readonly signature?: string | undefined;
  /** Raw text of the arguments while they stream; never present in a finished message. */
  readonly partialJson?: string | undefined;
}

/** A file that was uploaded to a provider. Other providers get a text in its place, and the reply has a warning. */
export interface ProviderFileSource {
  readonly type: "provider_file";
  /** The provider that has the file. */
  readonly provider: string;
  /** Id of the file; at Google its URI. */
  readonly id: string;
}

/** Source of an image: base64 data, a URL that the provider fetches, a file, or a file at the provider. */
export type ImageSource =
  | { readonly type: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "file"; readonly path: string; readonly mediaType?: string }
  | ProviderFileSource;

/** An image in a user message or a tool result. */
export interface ImageBlock {
  readonly type: "image";
  /** Source of the image. A `file` is read through `Ports.readFile`. */
  readonly source: ImageSource;
}

/** Source of a document or an audio clip: base64 data, a URL that the provider fetches, a file, or one at the provider. */
export type MediaSource =
  | { readonly type: "base64"; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "file"; readonly path: string }
  | ProviderFileSource;

/** A document in a user message or a tool result. */
export interface DocumentBlock {
  readonly type: "document";
  /** Source of the document. A `file` is read through `Ports.readFile`. */
  readonly source: MediaSource;
  /** Media type, such as `"application/pdf"` or `"text/plain"`. */
  readonly mediaType: string;
  /** Name of the document for the model. */
  readonly name?: string | undefined;
  /** Whether the model cites the document, where the provider supports it. Default: `false`. */
  readonly citations?: boolean | undefined;
}

/** An audio clip in a user message or a tool result. */
export interface AudioBlock {
  readonly type: "audio";
  /** Source of the clip. A `file` is read through `Ports.readFile`. */
  readonly source: MediaSource;
  /** Media type, such as `"audio/wav"` or `"audio/mpeg"`. */
  readonly mediaType: string;
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
export type ContentBlock =
  | TextBlock
  | ThinkingBlock
  | ToolCallBlock
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ExtensionBlock;

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
  checkBlocks(blocks);
  let text = "";
  for (const block of blocks) if (block?.type === "text") text += block.text;
  return text;
}

/**
 * Returns the tool calls among the blocks, in order.
 *
 * @example
 * ```ts
 * import { extractToolCalls } from "@swink/agent";
 * import { toolCall } from "@swink/agent/testing";
 *
 * const [call] = extractToolCalls([toolCall("weather", { city: "Bern" })]);
 * call?.arguments; // { city: "Bern" }
 * ```
 */
export function extractToolCalls(blocks: readonly ContentBlock[]): ToolCallBlock[] {
  checkBlocks(blocks);
  return blocks.filter((block): block is ToolCallBlock => block?.type === "tool_call");
}

function checkBlocks(blocks: unknown): void {
  if (!Array.isArray(blocks)) {
    throw new BadRequestError("Pass the content array of a message");
  }
}
