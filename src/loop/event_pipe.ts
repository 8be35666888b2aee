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
export type Observe = (event: AgentEvent) => Promise<void> | undefined;

/** An event on its way in; its literal was made for this call alone. */
type Unnumbered = AgentEventBody & { seq?: number };

/** What {@linkcode EventPipe} leads to. */
export interface PipeEnds {
  /** The stream of a run; none for events between runs. */
  readonly channel?: EventChannel;
  /** Sees every event first. */
  readonly observe?: Observe | undefined;
}

/** A place in the line: of an event, or of somebody who only wants to know when its turn has come. */
interface Waiting {
  readonly event?: Unnumbered;
  readonly passed: () => void;
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
  readonly #observe: Observe | undefined;
  #seq = 0;
  #inRun: boolean;
  /** Whether somebody looks at an event, or the run has yet to begin. */
  #busy: boolean;
  #line: Waiting[] = [];

  /** Makes a pipe; one into a channel holds everything back until {@linkcode begin}. */
  constructor({ channel, observe }: PipeEnds) {
    this.#channel = channel;
    this.#observe = observe;
    this.#busy = this.#inRun = channel !== undefined;
  }

  /** Delivers the first event of a run, and then what waits for it. */
  begin(event: AgentEventBody): Promise<void> {
    return this.#deliver(event, this.#show(event));
  }

  /** Takes what still waits in the pipe before this one, to deliver it when the run has begun. */
  takeOver(before: EventPipe): void {
    this.#line.unshift(...before.#line.splice(0));
  }

  /** Gives up a run that will not begin. */
  giveUp(): void {
    if (this.#seq > 0) return;
    this.#inRun = false;
    void this.#deliverLine();
  }

  /** Delivers an event; a promise when whoever emits should wait. */
  emit(event: Unnumbered): Promise<void> | undefined {
    if (this.#busy) return this.#passing(event);
    this.#busy = true;
    const looking = this.#show(event);
    if (looking || this.#line.length > 0) return this.#deliver(event, looking);
    this.#busy = false;
    return this.#write(event);
  }

  /** Delivers a delta: what {@linkcode emit} does with its event, for the one kind that comes by the thousand. */
  update(delta: AssistantMessageDelta): Promise<void> | undefined {
    if (this.#busy) return this.#passing({ type: "message_update", delta });
    const event = { type: "message_update", delta, seq: ++this.#seq } as const;
    this.#busy = true;
    const looking = this.#observe?.(event);
    if (looking || this.#line.length > 0) return this.#deliver(event, looking);
    this.#busy = false;
    return this.#channel?.write(event);
  }

  /** Settles when every event so far was seen by the observer and taken by the reader. */
  settled(): Promise<void> | undefined {
    return this.#busy ? this.#passing().then(() => this.settled()) : this.#channel?.drained();
  }

  #passing(event?: Unnumbered): Promise<void> {
    return new Promise((passed) => this.#line.push({ ...(event && { event }), passed }));
  }

  async #deliver(event: Unnumbered, looking: Promise<void> | undefined): Promise<void> {
    if (looking) await looking;
    await this.#write(event);
    await this.#deliverLine();
  }

  async #deliverLine(): Promise<void> {
    for (let next = this.#line.shift(); next; next = this.#line.shift()) {
      const { event, passed } = next;
      if (event) {
        await this.#show(event);
        await this.#write(event);
      }
      passed();
    }
    this.#busy = false;
  }

  #show(event: Unnumbered): Promise<void> | undefined {
    if (this.#inRun) number(event, ++this.#seq);
    if (event.type === "agent_end") this.#inRun = false;
    return this.#observe?.(event);
  }

  #write(event: Unnumbered): Promise<void> | undefined {
    return event.seq === undefined ? undefined : this.#channel?.write(event);
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
