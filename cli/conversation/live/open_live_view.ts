/**
 * Opens the view of a terminal with a live region.
 *
 * @module
 */

import type { InputHistory } from "../../editor/input_history.ts";
import { resolveBindings } from "../../editor/key_bindings.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
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
  { options, keys, historyDirectory, onEarlyEnd, features }: OpenLiveViewOptions,
): Promise<LiveView> {
  const { terminal, env, now } = host;
  const display = getDisplay(terminal.output, env, { theme: options.theme });
  const bindings = resolveBindings(keys);
  const keyboard = await openKeyboard({ terminal, features, startTimer });
  const region = createLiveRegion({
    output: terminal.output,
    getSize: () => ({ columns: terminal.columns, rows: terminal.rows }),
    now,
    startTimer,
    features,
  });
  return new LiveView({
    host,
    keyboard,
    region,
    display,
    startTimer,
    bindings,
    hasViKeys: options.vi,
    onEarlyEnd,
    history: openHistory(historyDirectory, now),
    notifier: new Notifier(options.notify),
  });
}

/** Opens the history while the user types already. */
function openHistory(directory: string | undefined, now: () => number): InputHistory {
  let history: InputHistory | undefined;
  const opening = importHistory(directory, now).then((opened) => history = opened);
  return {
    get entries() {
      return history?.entries ?? [];
    },
    add: async (text) => await (await opening).add(text),
  };
}

async function importHistory(
  directory: string | undefined,
  now: () => number,
): Promise<InputHistory> {
  const { openInputHistory } = await importLate<
    typeof import("../../editor/input_history.ts")
  >("../../editor/input_history.ts", import.meta.url);
  return await openInputHistory({ directory, now });
}
