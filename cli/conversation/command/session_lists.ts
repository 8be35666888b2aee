/**
 * Lists of the saved sessions of the directory.
 *
 * @module
 */

import type { SessionSummary } from "../../../src/memory/mod.ts";
import { importLate } from "../../host/import_late.ts";
import type { Line } from "../../render/line/line.ts";
import { getStyle } from "../../render/style.ts";
import type { SessionListOptions } from "../../sessions/session_list.ts";
import { toLine, toLines } from "../view/lines.ts";
import type { CommandContext } from "./command_context.ts";
import { requireStore } from "./require_store.ts";

/** Maximum number of sessions of a list. */
const LIMIT = 20;

/** The last sessions of the directory. */
export interface ListedSessions {
  readonly found: readonly SessionSummary[];
  /** Text that a list shows of each of them. */
  readonly titles: readonly string[];
  /** A line with a number for each of them, and one that names the way to older sessions, if there are some. */
  readonly lines: Line[];
}

const OLDER_ADVICE = "There are older ones: #sessions WORDS finds them";

/** Returns the last sessions of the directory. */
export async function listSessions(context: CommandContext): Promise<ListedSessions> {
  const store = await requireStore(context.sessions);
  const { listWithoutSubAgents } = await importLate<
    typeof import("../../../src/memory/store/sub_agent_link.ts")
  >("../../../src/memory/store/sub_agent_link.ts", import.meta.url);
  const cwd = await Deno.realPath(context.settings.cwd);
  const all = await listWithoutSubAgents(store, { cwd, limit: LIMIT + 1 });
  const found = all.slice(0, LIMIT);
  const { formatSessions, getSessionTitle } = await loadFormatter();
  const lines = splitLines(formatSessions(found, getListOptions(context)));
  const notice = all.length > LIMIT ? [toLine(OLDER_ADVICE, "faint")] : [];
  return { found, titles: found.map(getSessionTitle), lines: [...numberLines(lines), ...notice] };
}

/** Returns a line for each hit of a search in the sessions of the directory. */
export async function searchSessions(
  words: string,
  context: CommandContext,
): Promise<{ readonly lines: Line[] }> {
  const store = await requireStore(context.sessions);
  const cwd = await Deno.realPath(context.settings.cwd);
  const hits = await store.search(words, { cwd, limit: LIMIT });
  const { formatHits } = await loadFormatter();
  return { lines: splitLines(formatHits(hits, getListOptions(context))) };
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

function numberLines(lines: readonly Line[]): Line[] {
  const width = String(lines.length).length;
  return lines.map((line, index) => [
    { text: `${String(index + 1).padStart(width)}  `, role: "faint" },
    ...line,
  ]);
}
