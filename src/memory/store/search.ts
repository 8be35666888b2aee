/**
 * Full-text search in entries.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import { type ContentBlock, extractText } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { SearchHit, SearchSessionsOptions } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { safeStringify } from "./safe_stringify.ts";

/** Length of a snippet before the match, in characters; from the match on it is twice as long. */
const SNIPPET_CHARACTERS = 60;

/** A word: letters with their marks. A mark without a letter is no part of one, such as the one that makes a heart red. */
const WORD = /[\p{L}\p{N}\p{Co}][\p{L}\p{M}\p{N}\p{Co}]*/gu;

/**
 * Code units that may be a part of a letter: those of all marks except the selectors of variations, and the vowels of Hangul.
 * Ranges instead of `\p{M}`, which takes ten times as long for the lines of a log.
 */
const PART_OF_LETTER =
  /[\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u20d0-\u20ff\u2cef-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\uabff\ud800-\ud83b\ufb1e\ufe20-\ufe2f]/;
/** Letters with marks, and syllables of Hangul. With more marks of one letter, normalization would take quadratic time. */
const COMPOSED = /\p{L}\p{M}{1,8}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?/gu;

/** The scripts without spaces between words. */
const UNSPACED = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"]
  .map((script) => `\\p{scx=${script}}`).join("");
const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, "u");
/** Each character of such a script is a word, since any of them may begin one. */
const UNSPACED_PART = new RegExp(`[${UNSPACED}]\\p{M}*|[^${UNSPACED}]+`, "gu");
/** Matches at `lastIndex` if a letter of another script is before it: no word begins there. */
const LETTER_BEFORE = new RegExp(
  `(?<=(?![${UNSPACED}])[\\p{L}\\p{N}\\p{Co}]\\p{M}{0,8})`,
  "uy",
);

/** Maximum length of a query, in UTF-16 code units: each word takes time for each entry that may match. */
const MAX_QUERY_LENGTH = 10_000;

/** Default maximum number of hits. */
export const DEFAULT_SEARCH_LIMIT = 50;

/** Returns a text in lower case, with one form of each letter. */
export function foldText(text: string): string {
  return composeLetters(text).toLowerCase();
}

/** Replaces letters that consist of several characters by one, where there is one, so that both forms are found. */
function composeLetters(text: string): string {
  return !PART_OF_LETTER.test(text)
    ? text
    : text.replaceAll(COMPOSED, (letter) => letter.normalize("NFC"));
}

/** Splits a text into lower-case words. */
export function splitWords(text: string): string[] {
  const words = foldText(text).match(WORD) ?? [];
  if (!UNSPACED_CHARACTER.test(text)) return words;
  return words.flatMap((word) =>
    UNSPACED_CHARACTER.test(word) ? word.match(UNSPACED_PART) ?? [] : [word]
  );
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
      return `${entry.name} ${getDataText(entry.data)}`;
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

/**
 * A parsed query. An entry matches when every word of the query is the beginning of one of its words, or is anywhere in a text
 * without spaces.
 */
export class SearchQuery {
  /** The words of the query, in lower case. */
  readonly words: readonly string[];
  /** The words of the query, where those of scripts without spaces are together. */
  readonly #terms: readonly string[];
  readonly #options: SearchSessionsOptions;

  /**
   * Parses a query.
   *
   * @throws {SessionError} With the reason `bad_filter` if it is too long.
   */
  constructor(query: string, options: SearchSessionsOptions = {}) {
    checkQuery(query);
    this.words = [...new Set(splitWords(query))];
    this.#terms = [...new Set(foldText(query).match(WORD) ?? [])];
    this.#options = options;
  }

  /** Whether the result of `foldText()` may match: a fast check without false negatives. */
  canMatch(folded: string): boolean {
    return this.#terms.every((term) => folded.includes(term));
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
    const text = composeLetters(getSearchText(entry));
    const folded = text.toLowerCase();
    if (!this.canMatch(folded)) return undefined;
    // In lower case, as the words are: the dot of an I becomes a character of its own.
    const matches = this.#terms.map((term) => findTerm(folded, term));
    if (matches.includes(-1)) return undefined;
    const { id: entryId, type, timestamp } = entry;
    const snippet = createSnippet(text, Math.min(...matches));
    return { sessionId, entryId, type, timestamp, snippet };
  }
}

/** Returns the index of a term at the beginning of a word, or anywhere in a script without spaces; -1 if there is none. */
function findTerm(text: string, term: string): number {
  const isUnspaced = term.search(UNSPACED_CHARACTER) === 0;
  for (let index = text.indexOf(term); index >= 0; index = text.indexOf(term, index + 1)) {
    LETTER_BEFORE.lastIndex = index;
    if (isUnspaced || !LETTER_BEFORE.test(text)) return index;
  }
  return -1;
}

function checkQuery(query: string): void {
  if (typeof query === "string" && query.length <= MAX_QUERY_LENGTH) return;
  throw new SessionError(
    `Cannot search for this query: use a text of at most ${MAX_QUERY_LENGTH} characters`,
    { reason: "bad_filter" },
  );
}

function getMessageText(message: AgentMessage): string {
  if (message.role === "custom") return getDataText(message.data);
  return message.content.map(getBlockText).filter((text) => text !== "").join("\n");
}

function getBlockText(block: ContentBlock): string {
  if (block.type === "text") return block.text;
  return block.type === "tool_call" ? `${block.name} ${getDataText(block.arguments)}` : "";
}

/** Returns the text of data: its JSON with characters instead of escapes, whose letters would belong to the next word. */
function getDataText(data: unknown): string {
  return safeStringify(data).replaceAll(
    /\\(?:u[0-9a-f]{4}|.)/g,
    (escape) => escape === "\\\\" || escape === '\\"' ? escape.charAt(1) : " ",
  );
}

/** Matches the sequences of terminals for colors and movements, which are more than their control character. */
// deno-lint-ignore no-control-regex -- matches the sequences
const TERMINAL_SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]/g;

/** Returns the text around an index, on one line and without control characters. */
function createSnippet(text: string, index: number): string {
  const start = Math.max(0, index - SNIPPET_CHARACTERS);
  const end = Math.min(text.length, index + 2 * SNIPPET_CHARACTERS);
  const part = text.slice(start, end).toWellFormed()
    .replaceAll(TERMINAL_SEQUENCES, "")
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return `${start > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
}
