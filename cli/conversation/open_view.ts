/**
 * Selection of the view of a conversation.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { createEncoder } from "../render/line/encode_line.ts";
import { getDisplay } from "../render/theme/get_display.ts";
import { PlainView } from "./plain/plain_view.ts";
import type { ConversationView } from "./view/conversation_view.ts";

/** Opens the view that the terminal can show. */
export function openView(host: Host): Promise<ConversationView> {
  const { keyboard, output } = host.terminal;
  if (!keyboard) throw new ConfigurationError("There is no terminal to read from");
  const display = getDisplay(output, host.env, { isPlain: true });
  return Promise.resolve(
    new PlainView({ host, keyboard, display, encode: createEncoder(display) }),
  );
}
