/**
 * Contents in the form of AI SDK UI.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { toJsonValue } from "../../core/json/json.ts";
import { type ContentBlock, extractText, type MediaSource } from "../../core/messages/content.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import { getClientDetails } from "../web_client/client_results.ts";
import { withoutFiles } from "../web_client/without_files.ts";
import type { UiFilePart, UiProviderMetadata, UiTextPart } from "./ui_message.ts";

/** Returns the content of a message of the user. Files on the server are left out. */
export function toUserParts(blocks: readonly ContentBlock[]): (UiTextPart | UiFilePart)[] {
  return blocks.flatMap((block): (UiTextPart | UiFilePart)[] => {
    switch (block.type) {
      case "text":
        return [{ type: "text", text: block.text }];
      case "image": {
        const { source } = block;
        return toFile(source, source.type === "base64" ? source.mediaType : "image/*");
      }
      case "document": {
        const { source, mediaType, name } = block;
        return toFile(source, mediaType).map((part) => name ? { ...part, filename: name } : part);
      }
      case "audio":
        return toFile(block.source, block.mediaType);
      case "thinking":
      case "tool_call":
      case "extension":
        return [];
    }
  });
}

function toFile(source: MediaSource, mediaType: string): UiFilePart[] {
  switch (source.type) {
    case "base64":
      return [{ type: "file", mediaType, url: `data:${mediaType};base64,${source.data}` }];
    case "url":
      return [{ type: "file", mediaType, url: source.url }];
    case "provider_file": {
      const { provider, id } = source;
      return [{ type: "file", mediaType, url: "", providerReference: { [provider]: id } }];
    }
    case "file":
      return [];
  }
}

/** A page that a text cites. */
export interface CitedPage {
  /** Id of the source: its address. */
  readonly sourceId: string;
  /** Address of the page. */
  readonly url: string;
  /** Title of the page. */
  readonly title?: string;
}

/** Returns the pages that the texts of a reply cite, each one once. */
export function listCitedPages(blocks: readonly ContentBlock[]): CitedPage[] {
  const pages = new Map<string, CitedPage>();
  for (const block of blocks) {
    const citations = block.type === "text" ? block.citations ?? [] : [];
    for (const citation of citations) {
      if (citation.type !== "url" || pages.has(citation.url)) continue;
      const { url, title } = citation;
      pages.set(url, { sourceId: url, url, ...(title !== undefined && { title }) });
    }
  }
  return [...pages.values()];
}

/** The result of a call for a page. */
export interface UiToolOutput {
  /** The `details` of the result; its text, or its content with other media, if it has none. */
  readonly output: unknown;
  /** The text that the model reads, unless it is that of the output. */
  readonly metadata?: UiProviderMetadata;
}

/** Returns the result of a successful call. */
export function toUiOutput(result: Pick<AgentToolResult, "content" | "details">): UiToolOutput {
  const { content } = withoutFiles(result);
  const details = getClientDetails(result);
  const text = extractText(content);
  const isText = content.every(({ type }) => type === "text");
  const copy = toJsonValue(details !== undefined ? details : isText ? text : content);
  const output = "value" in copy ? copy.value : text;
  if (formatOutput(output) === text) return { output };
  return { output, metadata: { swink: { text } } };
}

/** Returns the text for the model of an output that has no other one. */
export function formatOutput(output: unknown): string {
  return typeof output === "string" ? output : JSON.stringify(output) ?? "";
}

/** A refusal of a call. */
export type Denial = Extract<ApprovalDecision, { readonly type: "denied" }>;

/** Returns the text of a refusal. */
export function describeDenial({ origin, reason }: Pick<Denial, "origin" | "reason">): string {
  if (reason === undefined) return "Tool call rejected by approval";
  return origin === "policy" ? reason : `Tool call rejected by approval: ${reason}`;
}
