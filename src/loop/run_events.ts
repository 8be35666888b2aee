/**
 * The events of one run.
 *
 * @module
 */

import type { AgentEventBody } from "../core/event.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import type { Cancellation } from "./cancellation.ts";
import type { EventPipe } from "./event_pipe.ts";

/** Emits the events of a run through its pipe. */
export class RunEvents {
  readonly #pipe: EventPipe;
  readonly #cancellation: Cancellation;

  constructor(pipe: EventPipe, cancellation: Cancellation) {
    this.#pipe = pipe;
    this.#cancellation = cancellation;
  }

  /** Emits an event; returns a promise if the caller should wait for listeners or the reader. */
  emit(event: AgentEventBody & { seq?: number }): Promise<void> | undefined {
    return this.#pipe.emit(event);
  }

  /** Emits a `message_update`; returns a promise if the caller should wait. */
  emitDelta(delta: AssistantMessageDelta): Promise<void> | undefined {
    return this.#pipe.emitDelta(delta);
  }

  /** Emits a `warning`, for a problem that does not end the run. */
  warn(code: string, message: string, data?: unknown): Promise<void> | undefined {
    return this.emit({ type: "warning", code, message, ...(data !== undefined && { data }) });
  }

  /** Resolves when listeners and the reader have handled every event so far, or on abort; `undefined` if they have. */
  untilDelivered(): Promise<void> | undefined {
    // An abort releases the reader's side by itself.
    if (!this.#pipe.delivering) return this.#pipe.drained();
    return this.#cancellation.untilAborted(Promise.resolve(this.#pipe.drained())).catch(() => {});
  }
}
