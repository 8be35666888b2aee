/**
 * Delivers events in order: first to the observer, then to the stream.
 *
 * @module
 */

import type { AgentEvent, AgentEventBody } from "../../core/events/event.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { AssistantMessageDelta } from "../../core/streams/stream.ts";
import type { EventChannel } from "./event_channel.ts";

/** Gets every event before the stream does. An object, since a function of each run would not stay compiled. */
export interface EventObserver {
  /** Handles an event; a returned promise is awaited before the next event. Must not throw or reject. */
  onEvent(event: AgentEvent): Promise<void> | undefined;
}

/** An event before its sequence number is set; the object must not be emitted twice. */
type UnsequencedEvent = AgentEventBody & { seq?: number };

/** Queued events after which timers are handled: listeners that emit events without end would block all of them. */
const EVENTS_BEFORE_TIMERS = 1_000;

/** Options for `new EventPipe()`. */
export interface EventPipeOptions {
  /** The stream of a run; none for events between runs. */
  readonly channel?: EventChannel;
  /** Gets every event before the stream. */
  readonly observer?: EventObserver | undefined;
}

/** A queued event, or a caller that waits until the events before it are delivered. */
interface PendingEvent {
  readonly event?: UnsequencedEvent | undefined;
  readonly onDelivered: () => void;
}

/**
 * Delivers events one after the other: first to the observer (state, subscribers), then to the stream. Events that are
 * emitted while the observer handles one are queued.
 *
 * Events of a run are numbered. Those emitted before its `agent_start` are queued until then; those emitted after its
 * `agent_end` belong to no run: they have no number and do not reach the stream.
 */
export class EventPipe {
  readonly #channel: EventChannel | undefined;
  /** Gets every event before the stream. */
  observer: EventObserver | undefined;
  /** Called with every event but deltas, before the observer; must not throw. */
  tap: ((event: AgentEvent) => void) | undefined;
  #seq = 0;
  #inRun: boolean;
  /** Whether an event is being delivered, or the run has not started yet. */
  #delivering: boolean;
  /** Queued events, in order. Taking the first item of a long array would move all others. */
  readonly #pending = new Set<PendingEvent>();

  /** Creates a pipe. One with a channel queues everything until {@linkcode EventPipe.begin}. */
  constructor({ channel, observer }: EventPipeOptions) {
    this.#channel = channel;
    this.observer = observer;
    this.#delivering = this.#inRun = channel !== undefined;
  }

  /** Delivers the first event of a run, then the queued ones. */
  begin(event: AgentEventBody): Promise<void> {
    return this.#deliver(event, this.#notifyObserver(event));
  }

  /** Takes over the queued events of the previous pipe; they are delivered when the run has started. */
  adoptPending(previous: EventPipe): void {
    for (const pending of [...previous.#pending, ...this.#pending]) {
      this.#pending.delete(pending);
      this.#pending.add(pending);
    }
    previous.#pending.clear();
  }

  /** Delivers the queued events of a run that will not start. */
  abandon(): void {
    if (this.#seq > 0) return;
    this.#inRun = false;
    void this.#deliverPending();
  }

  /**
   * Delivers an event; returns a promise only when the caller should wait, like the other functions of the loop that
   * return a promise or `undefined`: an `await` for each event would add up over the deltas of long replies.
   */
  emit(event: UnsequencedEvent): Promise<void> | undefined {
    if (this.#delivering) return this.#enqueue(event);
    this.#delivering = true;
    const observed = this.#notifyObserver(event);
    if (observed || this.#pending.size > 0) return this.#deliver(event, observed);
    this.#delivering = false;
    return this.#write(event);
  }

  /** Emits a `warning`, for a problem that does not end the run. */
  warn(code: string, message: string, data?: unknown): Promise<void> | undefined {
    return this.emit({ type: "warning", code, message, ...(data !== undefined && { data }) });
  }

  /** Delivers a `message_update`, like {@linkcode EventPipe.emit} but optimized for the most frequent event. */
  emitDelta(delta: AssistantMessageDelta): Promise<void> | undefined {
    if (this.#delivering) return this.#enqueue({ type: "message_update", delta });
    const event = { type: "message_update", delta, seq: ++this.#seq } as const;
    this.#delivering = true;
    const observed = this.observer?.onEvent(event);
    if (observed || this.#pending.size > 0) return this.#deliver(event, observed);
    this.#delivering = false;
    return this.#channel?.write(event);
  }

  /** Whether the observer handles an event. */
  get delivering(): boolean {
    return this.#delivering;
  }

  /** Resolves when the observer and the reader have handled every event; returns `undefined` if they already have. */
  drained(): Promise<void> | undefined {
    return this.#delivering ? this.#enqueue().then(() => this.drained()) : this.#channel?.drained();
  }

  #enqueue(event?: UnsequencedEvent): Promise<void> {
    return new Promise((onDelivered) => this.#pending.add({ event, onDelivered }));
  }

  async #deliver(event: UnsequencedEvent, observed: Promise<void> | undefined): Promise<void> {
    if (observed) await observed;
    await this.#write(event);
    await this.#deliverPending();
  }

  async #deliverPending(): Promise<void> {
    let delivered = 0;
    for (const pending of this.#pending) {
      this.#pending.delete(pending);
      const { event, onDelivered } = pending;
      if (event) {
        await this.#notifyObserver(event);
        await this.#write(event);
      }
      onDelivered();
      if (++delivered % EVENTS_BEFORE_TIMERS === 0) await realSleep(0);
    }
    this.#delivering = false;
  }

  #notifyObserver(event: UnsequencedEvent): Promise<void> | undefined {
    if (this.#inRun) assignSeq(event, ++this.#seq);
    if (event.type === "agent_end") this.#inRun = false;
    this.tap?.(event);
    return this.observer?.onEvent(event);
  }

  #write(event: UnsequencedEvent): Promise<void> | undefined {
    return event.seq === undefined ? undefined : this.#channel?.write(event);
  }
}

/**
 * Numbers an event in place, which saves a copy. Deltas have a branch of their own, so that the engine sees one object
 * shape there; adding a property to twenty shapes in one place is ten times slower.
 */
function assignSeq(event: UnsequencedEvent, seq: number): void {
  if (event.type === "message_update") event.seq = seq;
  else event.seq = seq;
}
