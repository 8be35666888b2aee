/**
 * Publishes the events of a run, each once, whatever process executes it.
 *
 * @module
 */

import type { PublishOptions } from "../../core/durable/durable_steps.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { type JsonValue, toJsonValue } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { EventContent } from "../events/event_storage.ts";
import { isUnreachable } from "../events/is_unreachable.ts";
import type { RunEvents } from "../events/run_events.ts";
import { hashJson } from "./hash_json.ts";
import { StoredEvents } from "./stored_events.ts";

/** Pause before the stored events are read again, in milliseconds. */
const RETRY_MS = 500;

/** Longest time for which a step that has ended waits for the stored events, in milliseconds: less than that for its record. */
const MAX_LOAD_MS = 20_000;

/** Number of attempts to read the stored events that a storage refuses, as one also does whose connection is bad. */
const MAX_ATTEMPTS = MAX_LOAD_MS / RETRY_MS;

/** Number of events that may wait until those of earlier processes are known, or until others are stored. */
const MAX_PENDING = 1_000;

/** Options for {@linkcode RunPublisher}. */
export interface RunPublisherOptions {
  /** The events of the run. Default: events are dropped. */
  readonly events: RunEvents | undefined;
  /** Whether another process may have published events of the run. */
  readonly isContinued: boolean;
  /** Aborted when this process must publish no further ones, since another one does. */
  readonly detached: AbortSignal;
  /** Waits. */
  readonly sleep: Clock["sleep"];
}

/**
 * Publishes the events of a run.
 *
 * The events of a replay are a part, in order, of those that earlier processes have published, apart from the last ones,
 * which may not have been stored. An event of a replay that is found among the stored ones is not published again.
 */
export class RunPublisher {
  readonly #events: RunEvents | undefined;
  readonly #isContinued: boolean;
  readonly #detached: AbortSignal;
  readonly #sleep: Clock["sleep"];
  #stored = new StoredEvents([]);
  #last: Promise<void> | undefined;
  #isLoaded = false;
  #isLive = false;
  #hasEnd = false;
  #isEnded = false;
  #pending = 0;

  constructor({ events, isContinued, detached, sleep }: RunPublisherOptions) {
    this.#events = events;
    this.#isContinued = isContinued;
    this.#detached = detached;
    this.#sleep = sleep;
  }

  /**
   * Publishes an event, which a replay emits or the first execution. Returns a promise if further ones must wait.
   *
   * @throws {BadRequestError} If the event is not JSON.
   */
  publish(
    event: unknown,
    { isCheckpoint = false, key, isReplayed }: PublishOptions & { readonly isReplayed: boolean },
  ): Promise<void> | undefined {
    const copy = toJsonValue(event ?? null);
    if ("problem" in copy) throw new BadRequestError(`An event must be JSON: ${copy.problem}`);
    // Readers have left after the end, such as before an event of an agent that got a message with the last step.
    if (!this.#events || this.#isEnded) return undefined;
    const content: EventContent = {
      type: isCheckpoint ? "checkpoint" : "event",
      event: copy.value,
      // A text that a storage refuses would cost the events of all runs that are stored with it.
      key: hashJson(key ?? withoutTimes(copy.value)),
    };
    const appended = this.#append(content, isReplayed);
    return this.#pending > MAX_PENDING ? appended : undefined;
  }

  /** Returns the number of the last stored event, if the replay has not reached it: a crash may have interrupted its step. */
  async findInterrupted(): Promise<number | undefined> {
    if (!this.#isLoaded) await this.#untilLoaded();
    return this.#stored.last?.number;
  }

  /** Waits for the stored events, which a step may precede, but not forever: its effect is not recorded yet. */
  async #untilLoaded(): Promise<void> {
    if (!this.#last) return;
    const timer = new AbortController();
    const signal = AbortSignal.any([timer.signal, this.#detached]);
    await Promise.race([this.#last.catch(() => {}), this.#sleep(MAX_LOAD_MS, signal)]);
    timer.abort();
  }

  /**
   * Continues after the stored events of an interrupted execution, up to a number: those of a recorded step, which a replay
   * emits, may be equal to them. Publishes the note that separates both if that was not stored. `isRecorded` selects those
   * of concurrent steps that were recorded.
   */
  skipInterrupted(number: number, isRecorded: (event: JsonValue) => boolean): void {
    this.#enqueue(async () => {
      if (!this.#stored.skip(number, isRecorded)) return;
      const hasNote = this.#stored.hasAhead((type) => type === "continued");
      if (!hasNote && !this.#detached.aborted) await this.#events?.append({ type: "continued" });
    });
  }

  /** Does something after the events that were published so far. */
  #enqueue(action: () => void | Promise<void>): void {
    if (!this.#events || this.#isEnded) return;
    this.#last = (this.#last ?? this.#load()).then(action);
    // The engine repeats what fails; a failure after that must not end the program.
    this.#last.catch(() => {});
  }

  /** Resolves when the events that were published so far are stored. */
  async flush(): Promise<void> {
    if (!this.#last) return;
    await this.#last;
    await this.#events?.flush();
  }

  /** Marks the end of the run for its readers, if it has events or always; resolves when it is stored. */
  async end({ isAlways }: { readonly isAlways: boolean }): Promise<void> {
    if (isAlways) this.#last ??= this.#load();
    for (let last: Promise<void> | undefined; last !== this.#last;) await (last = this.#last);
    this.#isEnded = true;
    if (!this.#last) return;
    if (!this.#hasEnd && !this.#detached.aborted) await this.#events?.append({ type: "end" });
    await this.#events?.flush();
  }

  /** Appends events in order: the first ones wait until the stored ones are known. */
  #append(content: EventContent, isReplayed: boolean): Promise<void> {
    this.#pending++;
    this.#enqueue(async () => {
      this.#pending--;
      if (isReplayed && "key" in content && this.#stored.take(content.key)) return;
      if (!isReplayed) await this.#endReplay();
      this.#hasEnd = false;
      // The process that continues the run publishes what has waited here.
      if (!this.#detached.aborted) await this.#events?.append(content);
    });
    return this.#last ?? Promise.resolve();
  }

  async #load(): Promise<void> {
    if (this.#isContinued) await this.#read();
    this.#isLoaded = true;
  }

  async #read(): Promise<void> {
    for (let refusals = 0; refusals < MAX_ATTEMPTS && !this.#detached.aborted;) {
      try {
        this.#stored = new StoredEvents(await this.#events?.load() ?? []);
        break;
      } catch (error) {
        // Without the stored events, those of the replay are published again, which is better than none.
        if (!isUnreachable(error)) refusals++;
        if (refusals < MAX_ATTEMPTS) await this.#sleep(RETRY_MS, this.#detached);
      }
    }
    this.#hasEnd = this.#stored.last?.type === "end";
  }

  /** Notes that a step is executed; the stored events that follow may be those of recorded steps that began with it. */
  async #endReplay(): Promise<void> {
    if (this.#isLive) return;
    this.#isLive = true;
    const hasRest = this.#stored.hasAhead((type) => type !== "end");
    if (hasRest && !this.#detached.aborted) await this.#events?.append({ type: "continued" });
  }
}

/** Names of times, durations and numbers of events, which differ in a replay. */
const TIME = /^(?:timestamp|seq|\w+Ms|\w+At)$/;

/** Returns an event without what differs in a replay: a reply takes no time there, and nothing reports progress. */
function withoutTimes(event: JsonValue): JsonValue {
  return JSON.parse(
    JSON.stringify(event, (name, member) => TIME.test(name) ? undefined : member),
  );
}
