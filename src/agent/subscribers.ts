/**
 * Whoever listens to an agent.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";
import type { WithGrace } from "../loop/loop.ts";

/** Is told of every event; a returned promise is waited for before the next one. */
export type AgentListener = (event: AgentEvent) => void | Promise<void>;

/**
 * Listeners in the order in which they came. One that throws or rejects is removed and told of. One that hangs
 * past the abort of a run is told the rest of that run without being waited for.
 */
export class Subscribers {
  readonly #onFailure: (thrown: unknown) => void;
  readonly #detached = new Set<AgentListener>();
  #listeners: readonly AgentListener[] = [];

  /** Makes a list whose failures go to `onFailure`. */
  constructor(onFailure: (thrown: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Adds a listener; returns how to remove it. */
  add(listener: AgentListener): () => void {
    // A wrapper of its own, so that a function that was added twice can be removed once.
    const own: AgentListener = (event) => listener(event);
    this.#listeners = [...this.#listeners, own];
    return () => this.#remove(own);
  }

  /** Tells everyone, one after the other; a promise when somebody takes time. Never rejects. */
  notify(event: AgentEvent, withGrace: WithGrace = (work) => work): Promise<void> | undefined {
    const listeners = this.#listeners;
    if (listeners.length === 0) return undefined;
    if (event.type === "agent_start") this.#detached.clear();
    for (let index = 0; index < listeners.length; index++) {
      const taking = this.#notifyOne(listeners[index], event, withGrace);
      if (!taking) continue;
      return taking.then(() => this.#notifyAll(listeners.slice(index + 1), event, withGrace));
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
      const answer = listener(event);
      if (!answer) return undefined;
      const taking = Promise.resolve(answer).catch((thrown) => this.#drop(listener, thrown));
      if (this.#detached.has(listener)) return undefined;
      return withGrace(taking).catch(() => void this.#detached.add(listener));
    } catch (thrown) {
      this.#drop(listener, thrown);
      return undefined;
    }
  }

  #drop(listener: AgentListener, thrown: unknown): void {
    this.#remove(listener);
    this.#onFailure(thrown);
  }

  #remove(listener: AgentListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}
