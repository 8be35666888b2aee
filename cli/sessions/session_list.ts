/**
 * Lists of sessions as text.
 *
 * @module
 */

import type { SearchHit, SessionSummary } from "../../src/memory/mod.ts";
import { formatTable, type TableOptions } from "../render/table.ts";
import { COMMAND_NOTE } from "./user_notes.ts";

/** Options for the lists. */
export interface SessionListOptions extends TableOptions {
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** Home directory, which is abbreviated. */
  readonly home: string | undefined;
  /** Whether the sessions are of several directories, which are shown then. */
  readonly hasDirectories: boolean;
}

/** Columns in which a title has enough space after the other fields of a session. */
const WIDE_COLUMNS = 72;

/**
 * Formats sessions, one line each: the id, the age, the number of messages, the cost, and the title. In few columns the
 * messages and the cost are left out, so that the title, by which the user knows a session, is not cut away.
 */
export function formatSessions(
  sessions: readonly SessionSummary[],
  options: SessionListOptions,
): string {
  const rows = sessions.map((session) => [
    session.id,
    formatAge(options.now - session.updated),
    ...(options.columns < WIDE_COLUMNS ? [] : formatWork(session)),
    ...(options.hasDirectories ? [shortenHome(session.cwd ?? "", options.home)] : []),
    getSessionTitle(session),
  ]);
  return formatTable(rows, options);
}

function formatWork({ messages, cost }: SessionSummary): string[] {
  return [formatMessages(messages), cost.total === null ? "" : `$${cost.total.toFixed(2)}`];
}

/** Formats hits, one line each: the id of the session, the age, and the text around the words. */
export function formatHits(hits: readonly SearchHit[], options: SessionListOptions): string {
  const rows = hits.map(({ sessionId, timestamp, snippet }) => [
    sessionId,
    formatAge(options.now - timestamp),
    snippet,
  ]);
  return formatTable(rows, options);
}

/** Returns what a list shows of a session: why it cannot be read, its title, or its first prompt. */
export function getSessionTitle({ problem, title, firstPrompt }: SessionSummary): string {
  return problem ?? title ?? formatFirstPrompt(firstPrompt ?? "");
}

/** The beginning of the text about a command that the user has run, on one line as first prompts are. */
const COMMAND_BEGINNING = COMMAND_NOTE.replaceAll(/\s+/g, " ");

/** Returns a command of the user as it was typed, and other texts unchanged. */
function formatFirstPrompt(text: string): string {
  if (!text.startsWith(COMMAND_BEGINNING)) return text;
  const [command = ""] = text.slice(COMMAND_BEGINNING.length).split(" </command>", 1);
  return `!${command}`;
}

/** Formats a number of messages. */
export function formatMessages(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

/** Formats an age as its largest unit, such as `3 h`. */
export function formatAge(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h`;
  return `${Math.floor(hours / 24)} d`;
}

function shortenHome(path: string, home = ""): string {
  return home !== "" && (path === home || path.startsWith(`${home}/`))
    ? `~${path.slice(home.length)}`
    : path;
}
