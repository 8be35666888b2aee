/**
 * Sessions as they are stored.
 *
 * @module
 */

import type { Session, SessionSummary } from "../../core/sessions/session.ts";
import type { SessionActivity, SessionStatus } from "../../core/sessions/session_activity.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { needsReply, readLoggedHistory } from "../../memory/recording/logged_history.ts";
import { hasQueued, readSessionState } from "../../memory/recording/session_state.ts";
import { SummaryBuilder } from "../../memory/store/summary.ts";
import type { EventCursor, LivePosition } from "./event_cursor.ts";

/** Name of the entry that marks a run as stopped, so that another process continues it. */
export const HANDED_OVER = "run_handed_over";

/** Maximum number of entries that are read one by one; more are read as a part of the log. */
const MAX_SINGLE_READS = 64;

/** Reads what a session does from its log. No process is asked whether it works in it. */
export async function readStoredActivity(session: Session): Promise<SessionActivity> {
  const path = await session.path();
  const { isInterrupted, queued } = readSessionState(path);
  const history = await readLoggedHistory(session, path);
  const pendingApprovals = history.open?.approvals?.pendingApprovals ?? [];
  const canContinue = hasQueued(queued) || needsReply(history);
  const isStopped = canContinue && (isInterrupted || isHandedOver(path));
  return { status: getStatus(pendingApprovals.length > 0, isStopped), pendingApprovals, queued };
}

function getStatus(isPending: boolean, isStopped: boolean): SessionStatus {
  if (isPending) return "awaiting_approval";
  return isStopped ? "interrupted" : "idle";
}

/** Whether the last run was stopped by a process that was shut down, and not continued since. */
function isHandedOver(path: readonly SessionEntry[]): boolean {
  const last = path.findLast((entry) =>
    entry.type === "run_ended" || entry.type === "message" ||
    entry.type === "custom" && entry.name === HANDED_OVER
  );
  return last?.type === "custom";
}

/** Reads the summary of a session. */
export async function readSummary(session: Session): Promise<SessionSummary> {
  const summary = SummaryBuilder.from(session.header);
  for await (const entry of session.entries()) summary.add(entry);
  return summary.build(0);
}

/** Opens a session for a function, and closes it then. */
export async function withSession<Result>(
  open: () => Promise<Session>,
  use: (session: Session) => Result | Promise<Result>,
): Promise<Result> {
  const session = await open();
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** Whether a log has a position. One of a session that was deleted and created again does not have the entry before it. */
export function hasPosition(
  { outline }: Pick<Session, "outline">,
  { position, entryId }: EventCursor,
): boolean {
  return position === 0 || outline[position - 1]?.id === entryId;
}

/** Returns the position at the end of the log of a session. */
export function getEnd(session: Session, live?: LivePosition): EventCursor {
  return {
    position: session.outline.length,
    entryId: session.outline.at(-1)?.id ?? "",
    ...(live && { live }),
  };
}

/** An entry and its position. */
export interface PositionedEntry {
  /** The position after the entry, that is, its number from 1. */
  readonly position: number;
  /** Id of the entry in the log. */
  readonly id: string;
  /** The entry; `undefined` if it can no longer be read. */
  readonly entry: SessionEntry | undefined;
}

/** Reads the entries between two positions of the log. */
export async function readEntries(
  session: Session,
  from: number,
  to: number,
): Promise<readonly PositionedEntry[]> {
  const nodes = session.outline.slice(from, to);
  const read = nodes.length > MAX_SINGLE_READS
    ? await readPart(session, new Set(nodes.map(({ id }) => id)))
    : await readSingle(session, nodes.map(({ id }) => id));
  return nodes.map(({ id }, index) => ({
    position: from + index + 1,
    id,
    entry: read.get(id),
  }));
}

async function readSingle(
  session: Session,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SessionEntry>> {
  const found = new Map<string, SessionEntry>();
  for (const id of ids) {
    const entry = await session.entry(id);
    if (entry) found.set(id, entry);
  }
  return found;
}

async function readPart(
  session: Session,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, SessionEntry>> {
  const found = new Map<string, SessionEntry>();
  for await (const entry of session.entries()) {
    if (ids.has(entry.id)) found.set(entry.id, entry);
    if (found.size === ids.size) break;
  }
  return found;
}
