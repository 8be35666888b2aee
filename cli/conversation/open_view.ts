/**
 * Selection of the view of a conversation.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import type { ChatOptions } from "../settings/chat_options.ts";
import { createEncoder } from "../render/line/encode_line.ts";
import { getDisplay } from "../render/theme/get_display.ts";
import { PlainView } from "./plain/plain_view.ts";
import type { ConversationView } from "./view/conversation_view.ts";

/** Options for `openView()`. */
export interface OpenViewOptions {
  /** The options of the conversation. */
  readonly options: ChatOptions;
  /** The program's directories, which hold the history of the input. */
  readonly directories: ProgramDirectories | undefined;
}

/** Opens the view that the terminal can show. */
export function openView(host: Host, _options: OpenViewOptions): Promise<ConversationView> {
  const { keyboard, output } = host.terminal;
  if (!keyboard) throw new ConfigurationError("There is no terminal to read from");
  const display = getDisplay(output, host.env, { isPlain: true });
  return Promise.resolve(
    new PlainView({ host, keyboard, display, encode: createEncoder(display) }),
  );
}
