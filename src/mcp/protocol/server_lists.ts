/**
 * The tools, prompts, resources and content blocks of a server, as the protocol defines them. The types have the
 * properties in use only.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../core/json/json.ts";

/** Hints of a server about a tool. They are not trustworthy unless the server is. */
export interface McpToolHints {
  /** Title for people. */
  readonly title?: string;
  /** Whether the tool changes nothing. */
  readonly readOnlyHint?: boolean;
  /** Whether the tool may destroy something. */
  readonly destructiveHint?: boolean;
  /** Whether a repetition of a call has no further effect. */
  readonly idempotentHint?: boolean;
  /** Whether the tool reaches systems other than the server. */
  readonly openWorldHint?: boolean;
}

/** A tool of a server. */
export interface ServerTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of the arguments, of type `object`. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of the structured result. */
  readonly outputSchema?: JsonSchema;
  readonly annotations?: McpToolHints;
}

/** A prompt of a server. */
export interface ServerPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly ServerPromptArgument[];
}

/** An argument of a prompt; its value is a string. */
export interface ServerPromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** A message of a prompt. */
export interface ServerPromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ServerContent;
}

/** A resource of a server. */
export interface ServerResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Size in bytes. */
  readonly size?: number;
}

/** Resources of a server whose URIs have variables. */
export interface ServerResourceTemplate {
  /** Template of the URIs, as in RFC 6570. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** The content of a resource: text, or bytes as base64. */
export interface ServerResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** A block of the result of a tool, or of a prompt. */
export type ServerContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | ({ readonly type: "resource_link" } & ServerResource)
  | { readonly type: "resource"; readonly resource: ServerResourceContents };

/** Key of `_meta` for a structured result that is no object. */
export const STRUCTURED_VALUE = "swink/structuredValue";

/** The result of a tool. */
export interface ServerToolResult {
  readonly content: readonly ServerContent[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}
