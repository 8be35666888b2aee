/**
 * Continues a session after one of its entries.
 *
 * @module
 */

import type { Session } from "../../../src/memory/mod.ts";
import { parseUndoNote, type UndoNote } from "../../sessions/user_notes.ts";
import { getTurnTime } from "./change_turn.ts";
import type { SessionControl } from "./command_context.ts";
import { requireSession } from "./require_session.ts";

/**
 * Continues the session after an entry; `null` is its beginning. The files stay as they are, so the history gets the texts
 * of other branches about changes of its prompts that are undone, or were made again.
 */
export async function moveSession(sessions: SessionControl, leaf: string | null): Promise<void> {
  const session = requireSession(sessions);
  await sessions.moveTo(leaf);
  const path = await session.path({ types: ["message"] });
  const branch = new Set(path.map(({ id }) => id));
  const notes = path.flatMap((entry) => parseUndoNote(entry) ?? []);
  const known = new Map(notes.map(({ turn, state }) => [turn, state]));
  const last = new Map<string, UndoNote>();
  for await (const entry of session.entries()) {
    const note = parseUndoNote(entry);
    if (!note) continue;
    const owner = findFirstMessage(session, getTurnTime(note.turn));
    // A branch may also have texts about changes of prompts of other ones.
    if (branch.has(owner ?? "") || known.has(note.turn)) last.set(note.turn, note);
  }
  for (const { text, turn, state, metadata } of last.values()) {
    if (state !== (known.get(turn) ?? "redone")) await sessions.addText(text, metadata);
  }
}

/** Returns the id of the first message of the log since a time: for that of a turn, its prompt. */
function findFirstMessage({ outline }: Session, time: number): string | undefined {
  return outline.find(({ type, timestamp }) => type === "message" && timestamp >= time)?.id;
}
