/**
 * Summaries of sessions for lists, updated with each entry.
 *
 * @module
 */

import { extractText } from "../../core/messages/content.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../../core/models/usage.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
import type {
  MessageEntry,
  SessionEntry,
  SessionHeader,
} from "../../core/sessions/session_entry.ts";
import { repairAmounts } from "./amounts.ts";

/** Maximum length of titles and prompts in a summary, in characters. */
const MAX_TEXT_CHARACTERS = 200;

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** Builds the summary of a session from its entries. */
export class SummaryBuilder {
  readonly #summary: Mutable<SessionSummary>;

  /** Creates a builder that adds to an earlier summary. */
  constructor(summary: SessionSummary) {
    this.#summary = { ...summary };
  }

  /** Creates a builder for a session without entries. */
  static from({ type: _type, version: _version, ...header }: SessionHeader): SummaryBuilder {
    return new SummaryBuilder({
      ...header,
      updated: header.created,
      entries: 0,
      messages: 0,
      leafId: null,
      usage: zeroUsage(),
      cost: zeroCost(),
      bytes: 0,
    });
  }

  /** Adds an entry. */
  add(entry: SessionEntry): void {
    const summary = this.#summary;
    summary.entries++;
    summary.leafId = entry.id;
    summary.updated = entry.timestamp;
    switch (entry.type) {
      case "message":
        return this.#addMessage(entry);
      case "model_changed":
        summary.model = entry.model;
        return;
      case "title":
        summary.title = truncateText(entry.title);
        return;
      case "reply_failed":
        return this.#addUsageAndCost(entry.message);
      case "compaction":
        return this.#addUsageAndCost(entry);
      case "sub_agent_result":
        return entry.isCounted ? undefined : this.#addUsageAndCost(entry);
    }
  }

  /** Returns the summary; `bytes` is the size of the log, in bytes. */
  build(bytes: number): SessionSummary {
    return { ...this.#summary, bytes };
  }

  #addMessage({ message, isCopy = false }: MessageEntry): void {
    const summary = this.#summary;
    summary.messages++;
    if (!isCopy && (message.role === "assistant" || message.role === "tool_result")) {
      this.#addUsageAndCost(message);
    }
    if (message.role === "user" && summary.firstPrompt === undefined) {
      const prompt = truncateText(extractText(message.content));
      if (prompt !== "") summary.firstPrompt = prompt;
    }
  }

  #addUsageAndCost(
    spending: { readonly usage?: Usage | undefined; readonly cost?: Cost | undefined },
  ): void {
    const { usage, cost } = repairAmounts({ ...spending }) as typeof spending;
    if (usage) this.#summary.usage = addUsage(this.#summary.usage, usage);
    if (cost) this.#summary.cost = addCost(this.#summary.cost, cost);
  }
}

/** Returns the beginning of a text, on one line. */
function truncateText(text: string): string {
  const line = text.slice(0, 4 * MAX_TEXT_CHARACTERS).replaceAll(/\s+/g, " ").trim();
  const characters = Array.from(line);
  if (characters.length <= MAX_TEXT_CHARACTERS) return line;
  return characters.slice(0, MAX_TEXT_CHARACTERS - 1).join("") + "…";
}
