/**
 * `/editor`: writes a text in the user's editor and sends it.
 *
 * @module
 */

import { containsSecret } from "../../editor/secret_text.ts";
import { defineCommand } from "../command/conversation_command.ts";
import type { ConversationView } from "../view/conversation_view.ts";
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
    if (containsSecret(text) && !await confirmSecret(view)) return view.setDraft(text);
    view.remember(text);
    if (!runs.isRunning) await view.echo(text, "editor");
    runs.send(text);
  },
});

/** Asks whether to send a text with a key, as a line with one is held back. */
async function confirmSecret(view: ConversationView): Promise<boolean> {
  const { signal } = new AbortController();
  const answer = await view.askChoice({
    details: [{
      text: "? The text has what looks like an API key or a password. #key PROVIDER saves a key.",
      paint: (row) => row,
    }],
    message: "Send it? [y]es / [n]o",
    answers: ["yes", "no"],
  }, signal);
  return answer === "yes";
}
