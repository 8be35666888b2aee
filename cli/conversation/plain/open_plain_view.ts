/**
 * Opens the view of a terminal that only writes lines.
 *
 * @module
 */

import type { Host } from "../../host/host.ts";
import type { Input } from "../../host/terminal.ts";
import { createEncoder } from "../../render/line/encode_line.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import { PlainView } from "./plain_view.ts";

/** Opens the view. */
export function openPlainView(host: Host, keyboard: Input): PlainView {
  const display = getDisplay(host.terminal.output, host.env, { isPlain: true });
  return new PlainView({ host, keyboard, display, encode: createEncoder(display) });
}
