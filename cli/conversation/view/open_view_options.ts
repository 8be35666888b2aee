/**
 * Options of the views of a conversation.
 *
 * @module
 */

import type { ProgramDirectories } from "../../host/program_directories.ts";
import type { ChatOptions } from "../../settings/chat_options.ts";

/** Options for `openView()`. */
export interface OpenViewOptions {
  /** The options of the conversation. */
  readonly options: ChatOptions;
  /** The program's directories, which hold the history of the input. */
  readonly directories: ProgramDirectories | undefined;
}
