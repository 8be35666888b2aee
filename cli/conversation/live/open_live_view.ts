/**
 * Opens the view of a terminal with a live region.
 *
 * @module
 */

import { resolveBindings } from "../../editor/key_bindings.ts";
import type { Host } from "../../host/host.ts";
import type { TerminalFeatures } from "../../host/terminal_features.ts";
import { startTimer } from "../../host/timer.ts";
import { openKeyboard } from "../../keys/keyboard.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import { createLiveRegion } from "../../screen/create_live_region.ts";
import type { OpenViewOptions } from "../view/open_view_options.ts";
import { LiveView } from "./live_view.ts";
import { Notifier } from "./notifier.ts";

/** Options for `openLiveView()`. */
export interface OpenLiveViewOptions extends OpenViewOptions {
  /** The abilities of the terminal. */
  readonly features: TerminalFeatures;
}

/** Enters raw mode and opens the view. */
export async function openLiveView(
  host: Host,
  { options, features }: OpenLiveViewOptions,
): Promise<LiveView> {
  const { terminal, env, now } = host;
  const display = getDisplay(terminal.output, env, { theme: options.theme });
  const keyboard = await openKeyboard({ terminal, features, startTimer });
  const region = createLiveRegion({
    output: terminal.output,
    getSize: () => ({ columns: terminal.columns, rows: terminal.rows }),
    now,
    startTimer,
    features,
  });
  const entries: string[] = [];
  return new LiveView({
    host,
    keyboard,
    region,
    display,
    startTimer,
    bindings: resolveBindings(),
    hasViKeys: options.vi,
    history: { entries, add: (text) => void entries.unshift(text) },
    notifier: new Notifier(options.notify),
  });
}
