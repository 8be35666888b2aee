/**
 * The parts of the view of a terminal with a live region.
 *
 * @module
 */

import type { InputHistory } from "../../editor/input_history.ts";
import type { Host } from "../../host/host.ts";
import type { StartTimer } from "../../host/timer.ts";
import type { Keyboard } from "../../keys/keyboard.ts";
import type { Display } from "../../render/theme/display.ts";
import type { LiveRegion } from "../../screen/live_region.ts";
import type { InputLineOptions } from "./input_line.ts";
import type { Notifier } from "./notifier.ts";

/** Options for `LiveView`. */
export interface LiveViewOptions extends Pick<InputLineOptions, "bindings" | "hasViKeys"> {
  /** Terminal, environment and clock. */
  readonly host: Pick<Host, "terminal" | "env" | "now">;
  /** The keyboard. */
  readonly keyboard: Keyboard;
  /** The live region. */
  readonly region: LiveRegion;
  /** How lines are shown. */
  readonly display: Display;
  /** The earlier inputs. */
  readonly history: InputHistory;
  /** Notifies the user. */
  readonly notifier: Notifier;
  /** Starts timers. */
  readonly startTimer: StartTimer;
  /** Called when the user leaves before the first input is read. */
  readonly onEarlyEnd: () => void;
}
