/**
 * `/rewind`: returns to the state before an earlier prompt.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { pluralize } from "../../render/tool_line.ts";
import { isTurnSince, type RewoundPrompt } from "../command/change_turn.ts";
import type { CommandContext } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { cutLine } from "../command/cut_line.ts";
import { moveSession } from "../command/move_session.ts";
import { requireSession } from "../command/require_session.ts";
import { listPrompts } from "../command/session_prompts.ts";
import { toLine } from "../view/lines.ts";
import { addUndoNote, formatUndo } from "./undo.ts";

/** `/rewind`. */
export const rewind = defineCommand({
  names: ["/rewind"],
  argument: "[N]",
  summary:
    "Returns to the state before the last prompt, or the last N, and asks about file changes",
  async run(argument, context) {
    const { view, sessions } = context;
    const prompts = await listPrompts(requireSession(sessions));
    const count = parseCount(argument, prompts.length);
    const prompt = prompts.at(-count);
    if (!prompt) throw new UsageError("There is no prompt to return to yet");
    if (await offerUndo(prompt, context) === "canceled") return;
    await moveSession(sessions, prompt.parentId);
    const line = toLine(`Back before: ${toOneLine(toPlainText(prompt.text))}`, "faint");
    await view.print([cutLine(line, view)]);
    view.setDraft(prompt.text);
    view.redraw();
  },
});

function parseCount(argument: string, available: number): number {
  if (argument === "") return 1;
  const count = /^\d+$/.test(argument) ? Number(argument) : 0;
  if (count >= 1 && count <= Math.max(available, 1)) return count;
  throw new UsageError(
    `/rewind takes a number from 1 to ${Math.max(available, 1)}, not ${JSON.stringify(argument)}`,
    "/tree lists the prompts.",
  );
}

/** Offers to undo the file changes since a prompt, if there are any; the user may cancel the whole command. */
async function offerUndo(
  prompt: RewoundPrompt,
  { view, sessions, changes, setup: { controls } }: CommandContext,
): Promise<"answered" | "canceled"> {
  const turns = (await changes.turns()).filter((turn) => isTurnSince(turn, prompt));
  if (turns.length === 0) return "answered";
  const { signal } = new AbortController();
  const answer = await view.askChoice({
    details: [{
      text: `? Files were changed after ${pluralize(turns.length, "prompt")} since then`,
      paint: (row) => row,
    }],
    message: "Undo the changes of files, too? [y]es / [n]o / [c]ancel",
    answers: ["yes", "no", "cancel"],
  }, signal);
  if (answer === undefined || answer === "cancel") return "canceled";
  if (answer === "no") return "answered";
  for (const turn of turns.toReversed()) {
    const report = await changes.undoTurn(controls.tools.sandbox.files, turn);
    await view.print(formatUndo(report));
    // For the model, if the user comes back to this branch.
    await addUndoNote(report, sessions);
  }
  return "answered";
}
