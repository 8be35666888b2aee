/**
 * `/redo`: makes the file changes again that the last `/undo` took back.
 *
 * @module
 */

import type { RedoReport } from "../../../src/tools/mod.ts";
import { createUndoMetadata, REDO_NOTE, TASK_REDO_NOTE } from "../../sessions/user_notes.ts";
import { getChangeSource } from "../command/change_turn.ts";
import type { SessionControl } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";
import { formatFiles } from "./undo.ts";

/** `/redo`. */
export const redo = defineCommand({
  names: ["/redo"],
  summary: "Makes the file changes again that were undone last; again, those of the undo before",
  async run(_argument, { view, sessions, changes, setup: { controls } }) {
    const report = await changes.redoTurn(controls.tools.sandbox.files);
    const lines = formatFiles(report);
    await view.print(lines.length > 0 ? lines : [toLine("There is nothing to redo", "faint")]);
    await addRedoNote(report, sessions);
  },
});

/** Adds a text about a redo to the history: the model has read that the changes are undone. */
async function addRedoNote(
  { turn, restored, removed }: RedoReport,
  sessions: SessionControl,
): Promise<void> {
  if (turn === undefined) return;
  const note = getChangeSource(turn) === "task" ? TASK_REDO_NOTE : REDO_NOTE;
  const paths = [...restored, ...removed].join(", ");
  await sessions.addText(`${note}${paths}`, createUndoMetadata(turn, "redone"));
}
