/**
 * Continues a session after one of its entries.
 *
 * @module
 */

import type { SessionEntry } from "../../../src/memory/mod.ts";
import { listUndoNotes } from "../../sessions/user_notes.ts";
import type { SessionControl } from "./command_context.ts";
import { requireSession } from "./require_session.ts";

/**
 * Continues the session after an entry; `null` is its beginning. The files stay as they are, so the texts about changes
 * that remain in the history, but are undone, remain in it, too.
 */
export async function moveSession(sessions: SessionControl, leaf: string | null): Promise<void> {
  const session = requireSession(sessions);
  const before = await session.path({ types: ["message"] });
  await sessions.moveTo(leaf);
  const after = await session.path({ types: ["message"] });
  const remaining = new Set(after.map(({ id }) => id));
  const last = before.findLast(({ id }) => remaining.has(id));
  const left = before.filter(({ id }) => !remaining.has(id));
  const known = new Set(listUndoNotes(after, Infinity).map(({ metadata }) => metadata.undoneTurn));
  for (const { text, metadata } of listUndoNotes(left, getTimestamp(last))) {
    if (!known.has(metadata.undoneTurn)) await sessions.addText(text, metadata);
  }
}

function getTimestamp(entry: SessionEntry | undefined): number {
  return entry?.type === "message" ? entry.message.timestamp ?? 0 : 0;
}
