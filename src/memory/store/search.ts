/**
 * Full-text search in entries.
 *
 * @module
 */

import { type ContentBlock, extractText } from "../../core/content.ts";
import { SessionError } from "../../core/errors.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { SearchHit, SearchSessionsOptions } from "../../core/session.ts";
import type { SessionEntry } from "../../core/session_entry.ts";
import { safeStringify } from "./safe_stringify.ts";

/** Length of a snippet before the match, in characters; from the match on it is twice as long. */
const SNIPPET_CHARACTERS = 60;
const WORD = /[\p{L}\p{N}\p{Co}]+/gu;

/** Maximum length of a query, in UTF-16 code units: each word takes time for each entry that may match. */
const MAX_QUERY_LENGTH = 10_000;

/** Default maximum number of hits. */
export const DEFAULT_SEARCH_LIMIT = 50;

/** Splits a text into lower-case words. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** Returns the searchable text of an entry; thinking is not searched. */
export function getSearchText(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
    case "sub_agent_message":
      return getMessageText(entry.message);
    case "tool_finished":
      return extractText(entry.result.content);
    case "compaction":
      return entry.summary ?? "";
    case "sub_agent_spawned":
      return entry.prompt;
    case "sub_agent_result":
      return entry.result;
    case "plan_created":
      return entry.plan;
    case "plan_step":
      return entry.note ?? "";
    case "label":
      return entry.label ?? "";
    case "title":
      return entry.title;
    case "custom":
      return `${entry.name} ${safeStringify(entry.data)}`;
    case "tool_started":
    case "model_changed":
    case "tools_changed":
    case "system_prompt_changed":
    case "reply_failed":
    case "approvals_pending":
    case "grants_changed":
    case "queue_changed":
    case "plan_mode":
    case "approval":
    case "approval_mode":
    case "leaf_moved":
    case "run_ended":
    case "opaque":
      return "";
  }
}

/** A parsed query. An entry matches when every word of the query is the beginning of one of its words. */
export class SearchQuery {
  /** The words of the query, in lower case. */
  readonly words: readonly string[];
  readonly #patterns: readonly RegExp[];
  readonly #options: SearchSessionsOptions;

  /**
   * Parses a query.
   *
   * @throws {SessionError} With the reason `bad_filter` if it is too long.
   */
  constructor(query: string, options: SearchSessionsOptions = {}) {
    checkQuery(query);
    this.words = [...new Set(splitWords(query))];
    this.#patterns = this.words.map((word) =>
      new RegExp(`(?<![\\p{L}\\p{N}\\p{Co}])${word}`, "iu")
    );
    this.#options = options;
  }

  /** Whether a lower-case text may match: a fast check without false negatives. */
  canMatch(lowerCaseText: string): boolean {
    return this.words.every((word) => lowerCaseText.includes(word));
  }

  /** Whether an entry has one of the requested types and a time in the requested range. */
  matchesFilters(
    { type, timestamp }: { readonly type: string; readonly timestamp: number },
  ): boolean {
    const { types, after, before } = this.#options;
    return (types === undefined || types.some((requested) => requested === type)) &&
      (after === undefined || timestamp >= after) && (before === undefined || timestamp < before);
  }

  /** Returns the hit for an entry, or `undefined` when it does not match. */
  findHit(sessionId: string, entry: SessionEntry): SearchHit | undefined {
    if (this.words.length === 0 || !this.matchesFilters(entry)) return undefined;
    const text = getSearchText(entry);
    const lowerCaseText = text.toLowerCase();
    // A pattern is compiled on first use, which takes a hundred times as long as this check.
    if (!this.canMatch(lowerCaseText)) return undefined;
    // In lower case, as the words are: the dot of an I becomes a character of its own.
    const matches = this.#patterns.map((pattern) => lowerCaseText.search(pattern));
    if (matches.includes(-1)) return undefined;
    const { id: entryId, type, timestamp } = entry;
    const snippet = createSnippet(text, Math.min(...matches));
    return { sessionId, entryId, type, timestamp, snippet };
  }
}

function checkQuery(query: string): void {
  if (typeof query === "string" && query.length <= MAX_QUERY_LENGTH) return;
  throw new SessionError(
    `Cannot search for this query: use a text of at most ${MAX_QUERY_LENGTH} characters`,
    { reason: "bad_filter" },
  );
}

function getMessageText(message: AgentMessage): string {
  if (message.role === "custom") return safeStringify(message.data);
  return message.content.map(getBlockText).filter((text) => text !== "").join("\n");
}

function getBlockText(block: ContentBlock): string {
  if (block.type === "text") return block.text;
  return block.type === "tool_call" ? `${block.name} ${safeStringify(block.arguments)}` : "";
}

/** Returns the text around an index, on one line and without control characters. */
function createSnippet(text: string, index: number): string {
  const start = Math.max(0, index - SNIPPET_CHARACTERS);
  const end = Math.min(text.length, index + 2 * SNIPPET_CHARACTERS);
  const part = text.slice(start, end).toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return `${start > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
}
