/**
 * The observer of a run that keeps the state of its agent.
 *
 * @module
 */

import type { AgentEvent } from "../core/events/event.ts";
import type { EventObserver } from "../loop/events/event_pipe.ts";
import type { ObservedRun } from "../loop/start_run.ts";
import { applyEvent } from "./apply_event.ts";
import type { LiveState } from "./live_state.ts";
import type { Subscribers } from "./subscribers.ts";

/** Applies the events of a run to the state of its agent, then passes them to the listeners. */
export class StateObserver implements EventObserver {
  readonly #state: LiveState;
  readonly #subscribers: Subscribers;
  readonly #run: ObservedRun;

  constructor(state: LiveState, subscribers: Subscribers, run: ObservedRun) {
    this.#state = state;
    this.#subscribers = subscribers;
    this.#run = run;
  }

  /** Applies an event and calls the listeners. */
  onEvent(event: AgentEvent): Promise<void> | undefined {
    const { messages, withGrace } = this.#run;
    applyEvent(this.#state, event, messages);
    return this.#subscribers.onEvent(event, withGrace);
  }
}
