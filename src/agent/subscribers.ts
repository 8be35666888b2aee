/**
 * Whoever listens to an agent.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";
import type { WithGrace } from "../loop/loop.ts";

/** Is told of every event; a returned promise is waited for before the next one. */
export type Listener = (event: AgentEvent) => void | Promise<void>;

/**
 * Listeners in the order in which they came. One that throws or rejects is removed and told of. One that hangs
 * past the abort of a run is told the rest of that run without being waited for.
 */
export class Subscribers {
  readonly #onFailure: (thrown: unknown) => void;
  readonly #leftBehind = new Set<Listener>();
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
  tell(event: AgentEvent, withGrace: WithGrace = (work) => work): Promise<void> | undefined {
    const listeners = this.#listeners;
    if (listeners.length === 0) return undefined;
    if (event.type === "agent_start") this.#leftBehind.clear();
    for (let index = 0; index < listeners.length; index++) {
      const taking = this.#tellOne(listeners[index], event, withGrace);
      if (!taking) continue;
      return taking.then(() => this.#tellRest(listeners.slice(index + 1), event, withGrace));
    }
    return undefined;
  }

  async #tellRest(
    listeners: readonly Listener[],
    event: AgentEvent,
    withGrace: WithGrace,
  ): Promise<void> {
    for (const listener of listeners) await this.#tellOne(listener, event, withGrace);
  }

  #tellOne(
    listener: Listener | undefined,
    event: AgentEvent,
    withGrace: WithGrace,
  ): Promise<void> | undefined {
    if (!listener || !this.#listeners.includes(listener)) return undefined;
    try {
      const answer = listener(event);
      if (!answer) return undefined;
      const taking = Promise.resolve(answer).catch((thrown) => this.#drop(listener, thrown));
      if (this.#leftBehind.has(listener)) return undefined;
      return withGrace(taking).catch(() => void this.#leftBehind.add(listener));
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
