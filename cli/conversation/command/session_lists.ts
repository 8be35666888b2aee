/**
 * Lists of the saved sessions of the directory.
 *
 * @module
 */

import type { SearchHit, SessionStore, SessionSummary } from "../../../src/memory/mod.ts";
import { importLate } from "../../host/import_late.ts";
import type { Line } from "../../render/line/line.ts";
import { getStyle } from "../../render/style.ts";
import type { SessionListOptions } from "../../sessions/session_list.ts";
import { toLine, toLines } from "../view/lines.ts";
import type { CommandContext } from "./command_context.ts";
import { requireStore } from "./require_store.ts";

/** Maximum number of sessions of a list. */
const LIMIT = 20;

/** Maximum number of hits whose sessions are listed: one session may have many. */
const MAX_HITS = 10_000;

/** The last sessions of the directory. */
export interface ListedSessions {
  readonly found: readonly SessionSummary[];
  /** Text that a list shows of each of them. */
  readonly titles: readonly string[];
  /** A line with a number for each of them, and one for each way to further sessions. */
  readonly lines: Line[];
}

/** Shows a list, whose numbers select its sessions until another one is shown. */
export async function showList(
  { found }: Pick<ListedSessions, "found">,
  lines: readonly Line[],
  { view, sessions }: CommandContext,
): Promise<void> {
  sessions.shown = found;
  await view.print(lines);
}

/** Returns the sessions of the list that was shown last; the last sessions of the directory before that. */
export async function getNumberedSessions(
  context: CommandContext,
): Promise<readonly SessionSummary[]> {
  return context.sessions.shown ?? (await listLastSessions(context)).found;
}

const OLDER_ADVICE = "There are older ones: #sessions WORDS finds them";

/** Returns the last sessions of the directory. */
export async function listLastSessions(context: CommandContext): Promise<ListedSessions> {
  const store = await requireStore(context.sessions);
  const all = await listOfDirectory(store, { context, limit: LIMIT + 1 });
  const listed = await formatListed(all.slice(0, LIMIT), context);
  return all.length > LIMIT ? addNotice(listed, OLDER_ADVICE) : listed;
}

/** Returns the last sessions of the directory, and the number of those that cannot be opened, which needs all of them. */
export async function listSessions(context: CommandContext): Promise<ListedSessions> {
  const listed = await listLastSessions(context);
  const { describeUnopenable } = await importLate<
    typeof import("../../sessions/unopenable_sessions.ts")
  >("../../sessions/unopenable_sessions.ts", import.meta.url);
  const notice = await describeUnopenable(await requireStore(context.sessions));
  return notice === undefined ? listed : addNotice(listed, notice);
}

function addNotice(listed: ListedSessions, notice: string): ListedSessions {
  return { ...listed, lines: [...listed.lines, toLine(notice, "faint")] };
}

/** Returns the last sessions of the directory that have words in their titles or texts, or beginnings of words. */
export async function findSessions(
  words: string,
  context: CommandContext,
): Promise<ListedSessions> {
  const store = await requireStore(context.sessions);
  const hits = await searchDirectory(words, { context, store, limit: MAX_HITS });
  const ids = new Set(hits.map(({ sessionId }) => sessionId));
  const all = await listOfDirectory(store, { context });
  const matching = all.filter(({ id }) => ids.has(id));
  return await formatListed(matching.slice(0, LIMIT), context);
}

/** Returns a line for each hit of a search in the sessions of the directory. */
export async function searchSessions(
  words: string,
  context: CommandContext,
): Promise<{ readonly lines: Line[] }> {
  const store = await requireStore(context.sessions);
  const hits = await searchDirectory(words, { context, store, limit: LIMIT });
  const { formatHits } = await loadFormatter();
  return { lines: splitLines(formatHits(hits, getListOptions(context))) };
}

interface DirectoryOptions {
  readonly context: CommandContext;
  /** Maximum number of results. Default: all. */
  readonly limit?: number;
}

async function listOfDirectory(
  store: SessionStore,
  { context, limit }: DirectoryOptions,
): Promise<readonly SessionSummary[]> {
  const { listWithoutSubAgents } = await importLate<
    typeof import("../../../src/memory/store/sub_agent_link.ts")
  >("../../../src/memory/store/sub_agent_link.ts", import.meta.url);
  return await listWithoutSubAgents(store, { cwd: await getDirectory(context), limit });
}

async function searchDirectory(
  words: string,
  { context, store, limit }: DirectoryOptions & { readonly store: SessionStore },
): Promise<readonly SearchHit[]> {
  return await store.search(words, { cwd: await getDirectory(context), limit });
}

function getDirectory({ settings }: Pick<CommandContext, "settings">): Promise<string> {
  return Deno.realPath(settings.cwd);
}

async function formatListed(
  found: readonly SessionSummary[],
  context: CommandContext,
): Promise<ListedSessions> {
  const { formatSessions, getSessionTitle } = await loadFormatter();
  const lines = splitLines(formatSessions(found, getListOptions(context)));
  const current = found.findIndex(({ id }) => id === context.sessions.session?.id);
  return { found, titles: found.map(getSessionTitle), lines: numberLines(lines, current) };
}

function loadFormatter(): Promise<typeof import("../../sessions/session_list.ts")> {
  return importLate("../../sessions/session_list.ts", import.meta.url);
}

function getListOptions({ view, host }: CommandContext): SessionListOptions {
  return {
    // A view that does not wrap lines cuts lists, too.
    columns: Math.min(view.columns, host.terminal.columns) - 4,
    style: getStyle({ isTerminal: false }, () => undefined),
    now: host.now(),
    home: host.env("HOME"),
    hasDirectories: false,
  };
}

function splitLines(text: string): Line[] {
  return text === "" ? [] : toLines(text);
}

/** Adds numbers, and the mark of `/tree` to the current session. */
function numberLines(lines: readonly Line[], current: number): Line[] {
  const width = String(lines.length).length;
  return lines.map((line, index) => {
    const mark = index === current ? "* " : "  ";
    return [{ text: String(index + 1).padStart(width) + mark, role: "faint" }, ...line];
  });
}
