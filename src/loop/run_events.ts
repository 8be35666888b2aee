/**
 * The events of one run.
 *
 * @module
 */

import type { Cancellation } from "./cancellation.ts";
import { EventPipe, type EventPipeOptions } from "./event_pipe.ts";

/** The pipe of the events of a run. */
export class RunEvents extends EventPipe {
  readonly #cancellation: Cancellation;

  constructor(options: EventPipeOptions, cancellation: Cancellation) {
    super(options);
    this.#cancellation = cancellation;
  }

  /** Emits a `warning`, for a problem that does not end the run. */
  warn(code: string, message: string, data?: unknown): Promise<void> | undefined {
    return this.emit({ type: "warning", code, message, ...(data !== undefined && { data }) });
  }

  /** Resolves when listeners and the reader have handled every event so far, or on abort; `undefined` if they have. */
  untilDelivered(): Promise<void> | undefined {
    // An abort releases the reader's side by itself.
    if (!this.delivering) return this.drained();
    return this.#cancellation.untilAborted(Promise.resolve(this.drained())).catch(() => {});
  }
}
