/**
 * The listeners of an agent.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { isThenable } from "../core/errors/refuse_promise.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { EventObserver } from "../loop/events/event_pipe.ts";
import type { WithGrace } from "../loop/start_run.ts";

/** Called with every event; a returned promise is awaited before the next event, any other value is ignored. */
export type AgentListener = (event: AgentEvent) => unknown;

const waitForever: WithGrace = (work) => work;

/** One subscription of a listener, which may have several. */
interface Subscription {
  readonly listener: AgentListener;
  /** Whether it has ended, perhaps while an event is passed to the listeners. */
  hasEnded: boolean;
}

/**
 * Notifies listeners in the order of their subscription. One that throws or rejects is removed and reported. One that
 * does not settle after an abort is no longer awaited during that run.
 */
export class Subscribers implements EventObserver {
  readonly #onFailure: (message: string) => void;
  readonly #detached = new Set<Subscription>();
  #subscriptions: readonly Subscription[] = [];

  /** Creates a list that calls `onFailure` with a message when a listener fails. */
  constructor(onFailure: (message: string) => void) {
    this.#onFailure = onFailure;
  }

  /** Adds a listener; returns a function that removes it. */
  add(listener: AgentListener): () => void {
    if (typeof listener !== "function") throw new BadRequestError("A listener must be a function");
    const subscription = { listener, hasEnded: false };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => this.#remove(subscription);
  }

  /** Calls all listeners one after the other; returns a promise if a listener returns one. Never rejects. */
  onEvent(event: AgentEvent, withGrace: WithGrace = waitForever): Promise<void> | undefined {
    if (event.type === "agent_start") this.#detached.clear();
    const subscriptions = this.#subscriptions;
    for (let index = 0; index < subscriptions.length; index++) {
      const notified = this.#notifyOne(subscriptions[index], event, withGrace);
      if (!notified) continue;
      return this.#notifyRest(notified, subscriptions.slice(index + 1), event, withGrace);
    }
    return undefined;
  }

  async #notifyRest(
    notified: Promise<void>,
    subscriptions: readonly Subscription[],
    event: AgentEvent,
    withGrace: WithGrace,
  ): Promise<void> {
    await notified;
    for (const subscription of subscriptions) {
      await this.#notifyOne(subscription, event, withGrace);
    }
  }

  #notifyOne(
    subscription: Subscription | undefined,
    event: AgentEvent,
    withGrace: WithGrace,
  ): Promise<void> | undefined {
    if (!subscription || subscription.hasEnded) return undefined;
    try {
      const { listener } = subscription;
      const result = listener(event);
      if (result === undefined || !isThenable(result)) return undefined;
      return this.#awaitResult(subscription, result, withGrace);
    } catch (thrown) {
      this.#drop(subscription, thrown);
      return undefined;
    }
  }

  #awaitResult(
    subscription: Subscription,
    result: PromiseLike<unknown>,
    withGrace: WithGrace,
  ): Promise<void> | undefined {
    const settled = Promise.resolve(result).catch((thrown) => this.#drop(subscription, thrown));
    if (this.#detached.has(subscription)) return undefined;
    return withGrace(settled.then(() => {})).catch(() => void this.#detached.add(subscription));
  }

  #drop(subscription: Subscription, thrown: unknown): void {
    this.#remove(subscription);
    this.#onFailure(`A listener failed and was removed: ${getErrorMessage(thrown)}`);
  }

  #remove(subscription: Subscription): void {
    subscription.hasEnded = true;
    this.#subscriptions = this.#subscriptions.filter((added) => added !== subscription);
  }
}
