/**
 * Whoever listens to an agent.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";

/** Is told of every event; a returned promise is waited for before the next one. */
export type Listener = (event: AgentEvent) => void | Promise<void>;

/** Listeners in the order in which they came. One that throws or rejects is removed and told of. */
export class Subscribers {
  readonly #onFailure: (thrown: unknown) => void;
  #listeners: readonly Listener[] = [];

  /** Makes a list whose failures go to `onFailure`. */
  constructor(onFailure: (thrown: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Adds a listener; returns how to remove it. */
  add(listener: Listener): () => void {
    // A wrapper of its own, so that a function that was added twice can be removed once.
    const own: Listener = (event) => listener(event);
    this.#listeners = [...this.#listeners, own];
    return () => this.#remove(own);
  }

  /** Tells everyone, one after the other; a promise when somebody takes time. Never rejects. */
  tell(event: AgentEvent): Promise<void> | undefined {
    const listeners = this.#listeners;
    for (let index = 0; index < listeners.length; index++) {
      const taking = this.#tellOne(listeners[index], event);
      if (taking) return taking.then(() => this.#tellRest(listeners.slice(index + 1), event));
    }
    return undefined;
  }

  async #tellRest(listeners: readonly Listener[], event: AgentEvent): Promise<void> {
    for (const listener of listeners) await this.#tellOne(listener, event);
  }

  #tellOne(listener: Listener | undefined, event: AgentEvent): Promise<void> | undefined {
    if (!listener || !this.#listeners.includes(listener)) return undefined;
    try {
      const taking = listener(event);
      if (!taking) return undefined;
      return Promise.resolve(taking).catch((thrown) => this.#drop(listener, thrown));
    } catch (thrown) {
      this.#drop(listener, thrown);
      return undefined;
    }
  }

  #drop(listener: Listener, thrown: unknown): void {
    this.#remove(listener);
    this.#onFailure(thrown);
  }

  #remove(listener: Listener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}
