/**
 * `/undo`: undoes the file changes of the last prompt.
 *
 * @module
 */

import type { RedoReport, UndoReport } from "../../../src/tools/mod.ts";
import type { Line } from "../../render/line/line.ts";
import { createUndoMetadata, TASK_UNDO_NOTE, UNDO_NOTE } from "../../sessions/user_notes.ts";
import { getChangeSource } from "../command/change_turn.ts";
import type { SessionControl } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toLines } from "../view/lines.ts";

/** `/undo`. */
export const undo = defineCommand({
  names: ["/undo"],
  summary: "Undoes the file changes of the last prompt; again, those of the one before",
  async run(_argument, { view, sessions, changes, setup: { controls } }) {
    const report = await changes.undoTurn(controls.tools.sandbox.files);
    await view.print(formatUndo(report));
    if (report.restored.length + report.removed.length > 0) {
      await view.print([toLine("/redo makes these changes again", "faint")]);
    }
    await addUndoNote(report, sessions);
  },
});

/** Adds a text about an undo to the history: the model would otherwise assume that its changes are in the files. */
export async function addUndoNote(
  { turn, restored, removed }: UndoReport,
  sessions: SessionControl,
): Promise<void> {
  const paths = [...restored, ...removed];
  if (paths.length === 0) return;
  const note = turn && getChangeSource(turn) === "task" ? TASK_UNDO_NOTE : UNDO_NOTE;
  await sessions.addText(`${note}${paths.join(", ")}`, createUndoMetadata(turn, "undone"));
}

/** Formats the result of an undo. */
export function formatUndo(
  { turn, restored, removed, left, untracked }: UndoReport,
): Line[] {
  if (turn === undefined) {
    return [
      toLine("There is no change to undo; those of swink run are not recorded", "faint"),
      ...untracked.flatMap((reason) => toLines(reason, "warning")),
    ];
  }
  return [
    ...formatFiles({ restored, removed, left }),
    ...untracked.flatMap((reason) => toLines(reason, "warning")),
  ];
}

/** Formats the files of an undo or a redo. */
export function formatFiles({ restored, removed, left }: Omit<RedoReport, "turn">): Line[] {
  return [
    ...restored.map((path) => toLine(`restored ${path}`)),
    ...removed.map((path) => toLine(`removed ${path}`)),
    ...left.map(({ path, reason }) => toLine(`left ${path}: ${reason}`, "warning")),
  ];
}
