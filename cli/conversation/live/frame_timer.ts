/**
 * Limits how often the rows that change are computed and drawn.
 *
 * @module
 */

import type { StartTimer } from "../../host/timer.ts";

/** Time between two frames: 30 a second. */
const FRAME_MS = 33;

/** Time between two frames while nothing but the time changes. */
const TICK_MS = 500;

/** Options for {@linkcode FrameTimer}. */
export interface FrameTimerOptions {
  /** Draws a frame. */
  readonly draw: () => void;
  /** Starts timers. */
  readonly startTimer: StartTimer;
}

/** Calls `draw` at most 30 times a second. */
export class FrameTimer implements Disposable {
  readonly #options: FrameTimerOptions;
  #stopTimer: (() => void) | undefined;
  #stopTick: (() => void) | undefined;
  #isClosed = false;

  constructor(options: FrameTimerOptions) {
    this.#options = options;
  }

  /** Requests a frame, and further ones twice a second as long as `tick()` is called. */
  request(): void {
    if (this.#isClosed) return;
    this.#stopTimer ??= this.#options.startTimer(() => {
      this.#stopTimer = undefined;
      this.#options.draw();
    }, FRAME_MS);
  }

  /** Requests a frame for the time that has passed. */
  tick(): void {
    if (this.#isClosed) return;
    this.#stopTick ??= this.#options.startTimer(() => {
      this.#stopTick = undefined;
      this.#options.draw();
    }, TICK_MS);
  }

  /** Called when a frame was drawn: the one that was requested is not needed. */
  drawn(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Stops the timers. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#stopTick?.();
  }
}
