/**
 * Puts the events of one run into one order and hands each to everyone in turn.
 *
 * @module
 */

import type { AgentEvent, AgentEventBody } from "../core/event.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import type { EventChannel } from "./event_channel.ts";

/**
 * Sees every event before the stream does; a promise is waited for before the next event. Must not throw or
 * reject.
 */
export type EventObserver = (event: AgentEvent) => Promise<void> | undefined;

/** An event on its way in; its literal was made for this call alone. */
type UnsequencedEvent = AgentEventBody & { seq?: number };

/** What {@linkcode EventPipe} leads to. */
export interface EventPipeOptions {
  /** The stream of a run; none for events between runs. */
  readonly channel?: EventChannel;
  /** Sees every event first. */
  readonly observe?: EventObserver | undefined;
}

/** A place in the line: of an event, or of somebody who only wants to know when its turn has come. */
interface PendingEvent {
  readonly event?: UnsequencedEvent;
  readonly onDelivered: () => void;
}

/**
 * Delivers events one after the other: first to the observer (state, subscribers), then to the stream. While
 * somebody still looks at an event, later ones wait in line.
 *
 * Events of a run are numbered. What is said before its `agent_start` waits for it; what is said after its
 * `agent_end` belongs to no run, so it has no number and the stream does not carry it.
 */
export class EventPipe {
  readonly #channel: EventChannel | undefined;
  readonly #observe: EventObserver | undefined;
  #seq = 0;
  #inRun: boolean;
  /** Whether somebody looks at an event, or the run has yet to begin. */
  #delivering: boolean;
  #pending: PendingEvent[] = [];

  /** Makes a pipe; one into a channel holds everything back until {@linkcode begin}. */
  constructor({ channel, observe }: EventPipeOptions) {
    this.#channel = channel;
    this.#observe = observe;
    this.#delivering = this.#inRun = channel !== undefined;
  }

  /** Delivers the first event of a run, and then what waits for it. */
  begin(event: AgentEventBody): Promise<void> {
    return this.#deliver(event, this.#notifyObserver(event));
  }

  /** Takes what still waits in the pipe before this one, to deliver it when the run has begun. */
  adoptPending(before: EventPipe): void {
    this.#pending.unshift(...before.#pending.splice(0));
  }

  /** Gives up a run that will not begin. */
  abandon(): void {
    if (this.#seq > 0) return;
    this.#inRun = false;
    void this.#deliverPending();
  }

  /** Delivers an event; a promise when whoever emits should wait. */
  emit(event: UnsequencedEvent): Promise<void> | undefined {
    if (this.#delivering) return this.#enqueue(event);
    this.#delivering = true;
    const looking = this.#notifyObserver(event);
    if (looking || this.#pending.length > 0) return this.#deliver(event, looking);
    this.#delivering = false;
    return this.#write(event);
  }

  /** Delivers a delta: what {@linkcode emit} does with its event, for the one kind that comes by the thousand. */
  emitDelta(delta: AssistantMessageDelta): Promise<void> | undefined {
    if (this.#delivering) return this.#enqueue({ type: "message_update", delta });
    const event = { type: "message_update", delta, seq: ++this.#seq } as const;
    this.#delivering = true;
    const looking = this.#observe?.(event);
    if (looking || this.#pending.length > 0) return this.#deliver(event, looking);
    this.#delivering = false;
    return this.#channel?.write(event);
  }

  /** Settles when every event so far was seen by the observer and taken by the reader. */
  drained(): Promise<void> | undefined {
    return this.#delivering ? this.#enqueue().then(() => this.drained()) : this.#channel?.drained();
  }

  #enqueue(event?: UnsequencedEvent): Promise<void> {
    return new Promise((passed) =>
      this.#pending.push({ ...(event && { event }), onDelivered: passed })
    );
  }

  async #deliver(event: UnsequencedEvent, looking: Promise<void> | undefined): Promise<void> {
    if (looking) await looking;
    await this.#write(event);
    await this.#deliverPending();
  }

  async #deliverPending(): Promise<void> {
    for (let next = this.#pending.shift(); next; next = this.#pending.shift()) {
      const { event, onDelivered: passed } = next;
      if (event) {
        await this.#notifyObserver(event);
        await this.#write(event);
      }
      passed();
    }
    this.#delivering = false;
  }

  #notifyObserver(event: UnsequencedEvent): Promise<void> | undefined {
    if (this.#inRun) assignSeq(event, ++this.#seq);
    if (event.type === "agent_end") this.#inRun = false;
    return this.#observe?.(event);
  }

  #write(event: UnsequencedEvent): Promise<void> | undefined {
    return event.seq === undefined ? undefined : this.#channel?.write(event);
  }
}

/**
 * Numbers an event in place, which saves a copy per delta. Deltas bring a `seq` along and have a branch of their
 * own, so that the engine sees one shape there; adding a member to twenty shapes in one place is ten times slower.
 */
function assignSeq(event: UnsequencedEvent, seq: number): void {
  if (event.type === "message_update") event.seq = seq;
  else event.seq = seq;
}
