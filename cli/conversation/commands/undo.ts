/**
 * `/undo`: undoes the file changes of the last prompt.
 *
 * @module
 */

import type { UndoReport } from "../../../src/tools/mod.ts";
import type { Line } from "../../render/line/line.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toLines } from "../view/lines.ts";
import { createUndoMetadata, UNDO_NOTE } from "../../sessions/user_notes.ts";

/** `/undo`. */
export const undo = defineCommand({
  names: ["/undo"],
  summary: "Undoes the file changes of the last prompt; again, those of the one before",
  async run(_argument, { view, sessions, changes, setup: { controls } }) {
    const report = await changes.undoTurn(controls.tools.sandbox.files);
    const lines = formatUndo(report);
    await view.print(lines);
    const undone = [...report.restored, ...report.removed];
    if (undone.length === 0) return;
    // The model would otherwise assume that its changes are in the files.
    const paths = undone.join(", ");
    await sessions.addText(`${UNDO_NOTE}${paths}`, createUndoMetadata(report.turn));
  },
});

/** Formats the result of an undo. */
export function formatUndo(
  { turn, restored, removed, left, untracked }: UndoReport,
): Line[] {
  if (turn === undefined) {
    return [
      toLine("No file was changed", "faint"),
      ...untracked.flatMap((reason) => toLines(reason, "warning")),
    ];
  }
  return [
    ...restored.map((path) => toLine(`restored ${path}`)),
    ...removed.map((path) => toLine(`removed ${path}`)),
    ...left.map(({ path, reason }) => toLine(`left ${path}: ${reason}`, "warning")),
    ...untracked.flatMap((reason) => toLines(reason, "warning")),
  ];
}
