/**
 * Puts the events of one run into one order and hands each to everyone in turn.
 *
 * @module
 */

import type { AgentEvent, AgentEventBody } from "../core/event.ts";
import type { EventChannel } from "./event_channel.ts";

/**
 * Sees every event before the stream does; a promise is waited for before the next event. Must not throw or
 * reject.
 */
export type Observe = (event: AgentEvent) => Promise<void> | undefined;

/** An event on its way in; its literal was made for this call alone. */
type Unnumbered = AgentEventBody & { seq?: number };

/**
 * Numbers events and delivers them one after the other: first to the observer (state, subscribers), then to the
 * stream. While somebody still looks at an event, later ones wait in line.
 */
export class EventPipe {
  readonly #channel: EventChannel;
  readonly #observe: Observe | undefined;
  #seq = 0;
  /** Events that somebody still looks at, and those behind them. */
  #line: Promise<void> | undefined;
  #showing = false;
  /** Emitted by an observer while it looked at another event. */
  #later: Unnumbered[] = [];

  /** Makes a pipe into a channel. */
  constructor(channel: EventChannel, observe?: Observe) {
    this.#channel = channel;
    this.#observe = observe;
  }

  /** Delivers an event; a promise when whoever emits should wait. */
  emit(event: Unnumbered): Promise<void> | undefined {
    if (this.#line) return this.#append(event);
    if (this.#showing) return void this.#later.push(event);
    const looking = this.#show(event);
    if (looking) return this.#hold(looking.then(() => this.#channel.write(event)));
    const room = this.#channel.write(event);
    return this.#later.length === 0 ? room : this.#catchUp();
  }

  /** Settles when every event so far was seen by the observer and taken by the reader. */
  settled(): Promise<void> | undefined {
    return this.#line ? this.#line.then(() => this.settled()) : this.#channel.drained();
  }

  #append(event: Unnumbered): Promise<void> {
    const before = this.#line ?? Promise.resolve();
    return this.#hold(before.then(() => this.#show(event)).then(() => this.#channel.write(event)));
  }

  async #catchUp(): Promise<void> {
    for (let next = this.#later.shift(); next; next = this.#later.shift()) await this.emit(next);
  }

  #show(event: Unnumbered): Promise<void> | undefined {
    number(event, ++this.#seq);
    if (!this.#observe) return undefined;
    this.#showing = true;
    const looking = this.#observe(event);
    this.#showing = false;
    return looking;
  }

  #hold(line: Promise<void>): Promise<void> {
    const held: Promise<void> = line.then((): Promise<void> | undefined => {
      if (this.#line === held) this.#line = undefined;
      return this.#later.length > 0 && !this.#line ? this.#catchUp() : undefined;
    });
    this.#line = held;
    return held;
  }
}

/**
 * Numbers an event in place, which saves a copy per delta. Deltas bring a `seq` along and have a branch of their
 * own, so that the engine sees one shape there; adding a member to twenty shapes in one place is ten times slower.
 */
function number(event: Unnumbered, seq: number): void {
  if (event.type === "message_update") event.seq = seq;
  else event.seq = seq;
}
