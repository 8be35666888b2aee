/**
 * The beginnings of the texts that the program adds to the history, so that the model knows of actions of the user. They
 * are no prompts: the conversation does not return to them.
 *
 * @module
 */

/** Beginning of the text about a command that the user has run. */
export const COMMAND_NOTE = "I have run a command:\n\n<command>\n";

/** Beginning of the text about changes that the user has undone. */
export const UNDO_NOTE = "I have undone your changes of these files: ";

/** Beginning of the text about a plan that was carried out. */
export const PLAN_NOTE = "Another agent has carried out the plan ";

const NOTES = [COMMAND_NOTE, UNDO_NOTE, PLAN_NOTE];

/** Whether a text of the history is not a prompt of the user, but such a note. */
export function isNote(text: string): boolean {
  return NOTES.some((beginning) => text.startsWith(beginning));
}
