/**
 * `/editor`: writes a text in the user's editor and sends it.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/editor`. */
export const editor = defineCommand({
  names: ["/editor"],
  argument: "[TEXT]",
  summary: "Opens EDITOR, VISUAL or vi, and sends the text; an empty text sends nothing",
  key: "Ctrl+G",
  worksDuringRuns: true,
  async run(argument, { view, editor, runs }) {
    const text = await editor.editText(argument, ".md").catch((error) => {
      view.setDraft(argument);
      throw error;
    });
    if (text.trim() === "") {
      view.setDraft(argument);
      return await view.print([toLine("The text was empty, so nothing was sent", "faint")]);
    }
    view.remember(text);
    if (!runs.isRunning) await view.echo(text, "editor");
    runs.send(text);
  },
});
