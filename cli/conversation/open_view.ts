/**
 * Selection of the view of a conversation.
 *
 * @module
 */

import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { detectTerminalFeatures } from "../host/terminal_features.ts";
import type { ConversationView } from "./view/conversation_view.ts";
import type { OpenViewOptions } from "./view/open_view_options.ts";

/** Opens the view that the terminal can show. */
export async function openView(host: Host, options: OpenViewOptions): Promise<ConversationView> {
  const { keyboard } = host.terminal;
  if (!keyboard) throw new ConfigurationError("There is no terminal to read from");
  const features = detectTerminalFeatures({ env: host.env, isPlain: options.options.plain });
  if (features.hasCursor) {
    const { openLiveView } = await importLate<typeof import("./live/open_live_view.ts")>(
      "./live/open_live_view.ts",
      import.meta.url,
    );
    return await openLiveView(host, { ...options, features });
  }
  const { openPlainView } = await importLate<typeof import("./plain/open_plain_view.ts")>(
    "./plain/open_plain_view.ts",
    import.meta.url,
  );
  return openPlainView(host, keyboard);
}
