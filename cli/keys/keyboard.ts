/**
 * The keyboard of a terminal in raw mode.
 *
 * @module
 */

import type { KeyEvent } from "./key_event.ts";

/**
 * Reads keys while the terminal is in raw mode: Ctrl+C, Ctrl+Z and Ctrl+\ are keys, typed keys are not shown, and a paste
 * arrives as one event.
 */
export interface Keyboard extends Disposable {
  /**
   * Returns the keys that arrived together, at least one; `undefined` at the end of the input, such as when the terminal
   * is closed, or when `signal` is aborted. Keys that arrive between calls are kept.
   */
  read(signal?: AbortSignal): Promise<readonly KeyEvent[] | undefined>;
  /** Discards the keys that were typed before this call, including an unfinished sequence. */
  discard(): Promise<void>;
  /**
   * Restores the terminal and stops reading, so that another program, such as an editor, can use it. The caller has
   * erased the live region.
   */
  suspend(): void;
  /** Enters raw mode again. */
  resume(): void;
  /** Restores the terminal. */
  [Symbol.dispose](): void;
}
