/**
 * A live region on a terminal emulator, for tests.
 *
 * @module
 */

import type { TerminalFeatures } from "../../cli/host/terminal_features.ts";
import { createLiveRegion } from "../../cli/screen/create_live_region.ts";
import type { LiveRegion, ScreenSize } from "../../cli/screen/live_region.ts";
import { ManualTimers } from "./manual_timers.ts";
import { type EmulatorOptions, TerminalEmulator } from "./terminal_emulator.ts";

/** Options for `createEmulatedRegion()`. */
export interface EmulatedRegionOptions extends EmulatorOptions {
  /** Whether the terminal moves the cursor. Default: `true`. */
  readonly hasCursor?: boolean;
  /** Whether updates are synchronized. Default: `false`. */
  readonly isSynchronized?: boolean;
  /** The behavior of the terminal at resizes. Default: `except_cursor`, which is that of the emulator. */
  readonly reflow?: TerminalFeatures["reflow"];
  /** Returns the size that the terminal reports. Default: its size. */
  readonly getSize?: () => ScreenSize;
}

/** A live region with its terminal and clock. */
export interface EmulatedRegion extends Disposable {
  readonly terminal: TerminalEmulator;
  readonly timers: ManualTimers;
  readonly region: LiveRegion;
}

/** Creates a live region. */
export function createEmulatedRegion(options: EmulatedRegionOptions = {}): EmulatedRegion {
  const { hasCursor = true, isSynchronized = false, reflow = "except_cursor" } = options;
  const terminal = new TerminalEmulator(options);
  const timers = new ManualTimers();
  const output = {
    closed: new AbortController().signal,
    write: (content: string | Uint8Array) => terminal.write(content),
  };
  const region = createLiveRegion({
    output,
    getSize: options.getSize ?? (() => terminal),
    now: timers.now,
    startTimer: timers.startTimer,
    features: { hasCursor, isSynchronized, reflow },
  });
  return { terminal, timers, region, [Symbol.dispose]: () => terminal[Symbol.dispose]() };
}
