/**
 * The listeners of an agent.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors.ts";
import type { AgentEvent } from "../core/event.ts";
import { isThenable } from "../core/refuse_promise.ts";
import type { WithGrace } from "../loop/start_run.ts";

/** Called with every event; a returned promise is awaited before the next event, any other value is ignored. */
export type AgentListener = (event: AgentEvent) => unknown;

/**
 * Notifies listeners in the order of their subscription. One that throws or rejects is removed and reported. One that
 * does not settle after an abort is no longer awaited during that run.
 */
export class Subscribers {
  readonly #onFailure: (message: string) => void;
  readonly #detached = new Set<AgentListener>();
  #listeners: readonly AgentListener[] = [];

  /** Creates a list that calls `onFailure` with a message when a listener fails. */
  constructor(onFailure: (message: string) => void) {
    this.#onFailure = onFailure;
  }

  /** Adds a listener; returns a function that removes it. */
  add(listener: AgentListener): () => void {
    if (typeof listener !== "function") throw new BadRequestError("A listener must be a function");
    // A wrapper per call, so that a function that was added twice is removed once per unsubscribe.
    const wrapper: AgentListener = (event) => listener(event);
    this.#listeners = [...this.#listeners, wrapper];
    return () => this.#remove(wrapper);
  }

  /** Calls all listeners one after the other; returns a promise if a listener returns one. Never rejects. */
  notify(event: AgentEvent, withGrace: WithGrace = (work) => work): Promise<void> | undefined {
    const listeners = this.#listeners;
    if (event.type === "agent_start") this.#detached.clear();
    for (let index = 0; index < listeners.length; index++) {
      const notified = this.#notifyOne(listeners[index], event, withGrace);
      if (!notified) continue;
      return notified.then(() => this.#notifyAll(listeners.slice(index + 1), event, withGrace));
    }
    return undefined;
  }

  async #notifyAll(
    listeners: readonly AgentListener[],
    event: AgentEvent,
    withGrace: WithGrace,
  ): Promise<void> {
    for (const listener of listeners) await this.#notifyOne(listener, event, withGrace);
  }

  #notifyOne(
    listener: AgentListener | undefined,
    event: AgentEvent,
    withGrace: WithGrace,
  ): Promise<void> | undefined {
    if (!listener || !this.#listeners.includes(listener)) return undefined;
    try {
      const result = listener(event);
      if (!isThenable(result)) return undefined;
      const settled = Promise.resolve(result).catch((thrown) => this.#drop(listener, thrown));
      if (this.#detached.has(listener)) return undefined;
      return withGrace(settled.then(() => {})).catch(() => void this.#detached.add(listener));
    } catch (thrown) {
      this.#drop(listener, thrown);
      return undefined;
    }
  }

  #drop(listener: AgentListener, thrown: unknown): void {
    this.#remove(listener);
    this.#onFailure(`A listener failed and was removed: ${getErrorMessage(thrown)}`);
  }

  #remove(listener: AgentListener): void {
    this.#listeners = this.#listeners.filter((added) => added !== listener);
  }
}
