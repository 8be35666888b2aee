/**
 * The input of a conversation.
 *
 * @module
 */

/** Something that the user does, apart from answers to questions. */
export type ConversationInput =
  /** A text that was sent. */
  | {
    readonly type: "line";
    /** The text; its lines are separated by LF. */
    readonly text: string;
    /** When the agent gets it during a run: at the next opportunity, or when it has finished. Default: `steering`. */
    readonly delivery?: "steering" | "follow_up";
  }
  /** A key that has another effect than to edit the text. */
  | {
    readonly type: "action";
    readonly name: ConversationAction;
    /** The text that the action is about, such as that of `editor`. Default: empty. */
    readonly text?: string;
  }
  /** The end of the input: the terminal was closed, or Ctrl+D was pressed. */
  | { readonly type: "end" };

/**
 * An action of a key.
 *
 * `abort`: ends the run. `interrupt`: as Ctrl+C does, ends the run, and the program when it is pressed again. `quit`: leaves
 * the program. `toggle_plan`: turns plan mode on or off. `expand_tool`: shows the result of the selected tool call, or
 * hides it. `previous_tool`, `next_tool`: select a tool call. `editor`: opens the text in an editor. `help`, `theme`,
 * `model`, `usage`: as the commands of these names.
 */
export type ConversationAction =
  | "abort"
  | "interrupt"
  | "quit"
  | "toggle_plan"
  | "expand_tool"
  | "previous_tool"
  | "next_tool"
  | "editor"
  | "help"
  | "theme"
  | "model"
  | "usage";
