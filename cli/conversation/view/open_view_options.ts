/**
 * Options of the views of a conversation.
 *
 * @module
 */

import type { KeyBindings } from "../../config/key_bindings.ts";
import type { ChatOptions } from "../../settings/chat_options.ts";

/** Options for `openView()`. */
export interface OpenViewOptions {
  /** The options of the conversation. */
  readonly options: ChatOptions;
  /** Configured keys of actions. */
  readonly keys: KeyBindings;
  /** The directory in which the history of inputs is kept; without it, the history ends with the program. */
  readonly historyDirectory: string | undefined;
  /** Called when the user leaves before the first input is read. */
  readonly onEarlyEnd: () => void;
}
