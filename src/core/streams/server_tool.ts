/**
 * Tools that the provider runs itself, such as a web search.
 *
 * @module
 */

import type { JsonObject } from "../json/json.ts";

/** An approximate location, for results near the user. */
export interface UserLocation {
  /** Name of the city. */
  readonly city?: string | undefined;
  /** Name of the region. */
  readonly region?: string | undefined;
  /** Two-letter ISO code of the country. */
  readonly country?: string | undefined;
  /** IANA name of the time zone, such as `"Europe/Zurich"`. */
  readonly timezone?: string | undefined;
}

/** Searches the web; at Google, Google Search. */
export interface WebSearchTool {
  readonly type: "web_search";
  /** Maximum number of searches per reply. Default: the provider's. */
  readonly maxUses?: number | undefined;
  /** Domains that results may come from. Default: all. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** Domains that results must not come from. Default: none. */
  readonly blockedDomains?: readonly string[] | undefined;
  /** Location of the user. Default: unknown. */
  readonly userLocation?: UserLocation | undefined;
}

/** Reads web pages. */
export interface WebFetchTool {
  readonly type: "web_fetch";
  /** Maximum number of pages per reply. Default: the provider's. */
  readonly maxUses?: number | undefined;
  /** Domains that may be read. Default: all. */
  readonly allowedDomains?: readonly string[] | undefined;
  /** Domains that must not be read. Default: none. */
  readonly blockedDomains?: readonly string[] | undefined;
}

/** Runs code in a sandbox of the provider. */
export interface CodeExecutionTool {
  readonly type: "code_execution";
  /** Ids of uploaded files in the sandbox. Default: none. */
  readonly fileIds?: readonly string[] | undefined;
}

/** Searches uploaded files. */
export interface FileSearchTool {
  readonly type: "file_search";
  /** Ids of the stores to search. */
  readonly stores: readonly string[];
  /** Maximum number of results. Default: the provider's. */
  readonly maxResults?: number | undefined;
}

/** A tool in the form of one provider, such as computer use. */
export interface ProviderTool {
  readonly type: "provider_tool";
  /** The provider that has the tool. */
  readonly provider: string;
  /** The tool as an entry of the `tools` of the provider's requests. */
  readonly definition: JsonObject;
}

/**
 * A tool that the provider runs itself. Its calls and results are extension blocks of the reply, which later requests
 * send back; the sources it cites are citations of the text.
 */
export type ServerTool =
  | WebSearchTool
  | WebFetchTool
  | CodeExecutionTool
  | FileSearchTool
  | ProviderTool;

/**
 * Creates a web search.
 *
 * @example
 * ```ts
 * import { Agent, webSearch } from "@swink/agent";
 *
 * const agent = new Agent({
 *   model: "anthropic/claude-sonnet-5-5",
 *   streamOptions: { serverTools: [webSearch({ allowedDomains: ["deno.com"] })] },
 * });
 * ```
 */
export function webSearch(options: Omit<WebSearchTool, "type"> = {}): WebSearchTool {
  return { type: "web_search", ...options };
}

/**
 * Creates a tool that reads web pages.
 *
 * @example
 * ```ts
 * import { webFetch } from "@swink/agent";
 *
 * const serverTools = [webFetch({ maxUses: 3 })];
 * ```
 */
export function webFetch(options: Omit<WebFetchTool, "type"> = {}): WebFetchTool {
  return { type: "web_fetch", ...options };
}

/**
 * Creates a tool that runs code.
 *
 * @example
 * ```ts
 * import { codeExecution } from "@swink/agent";
 *
 * const serverTools = [codeExecution()];
 * ```
 */
export function codeExecution(options: Omit<CodeExecutionTool, "type"> = {}): CodeExecutionTool {
  return { type: "code_execution", ...options };
}

/**
 * Creates a search in uploaded files; `stores` are their vector stores at OpenAI, or file search stores at Google.
 *
 * @example
 * ```ts
 * import { fileSearch } from "@swink/agent";
 *
 * const serverTools = [fileSearch(["vs_123"], { maxResults: 5 })];
 * ```
 */
export function fileSearch(
  stores: readonly string[],
  options: Omit<FileSearchTool, "type" | "stores"> = {},
): FileSearchTool {
  return { type: "file_search", stores, ...options };
}

/**
 * Creates a tool in the form of one provider. It replaces the definition of an agent's tool of the same name, which then
 * executes the calls.
 *
 * @example
 * ```ts
 * import { providerTool } from "@swink/agent";
 *
 * const computer = providerTool("anthropic", {
 *   type: "computer_20251124",
 *   name: "computer",
 *   display_width_px: 1280,
 *   display_height_px: 800,
 * });
 * ```
 */
export function providerTool(provider: string, definition: JsonObject): ProviderTool {
  return { type: "provider_tool", provider, definition };
}

/** The tools of a provider that only read. */
const READING: readonly ServerTool["type"][] = ["web_search", "web_fetch", "file_search"];

/** Whether a tool of a provider only reads. */
export function isReadingServerTool({ type }: ServerTool): boolean {
  return READING.includes(type);
}
