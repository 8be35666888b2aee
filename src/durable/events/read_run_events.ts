/**
 * Reads the events of a run.
 *
 * @module
 */

import type {
  DurableStatus,
  PublishedEvent,
  RunEventsOptions,
} from "../../core/durable/durable_engine.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import type { EventHub } from "./event_hub.ts";
import { type EventStorage, toPublished } from "./event_storage.ts";
import { readAll } from "./run_events.ts";
import type { WatchedRun } from "./watched_run.ts";

/** Time without events after which the state of a run is looked up, in milliseconds. */
const STATUS_MS = 5_000;

/** The part of an engine that reads events. */
export interface EventSource {
  /** Stores and reads events. */
  readonly hub: EventHub;
  /** The storage. */
  readonly storage: EventStorage;
  /** Timers. */
  readonly clock: Clock;
  /** Returns the state of a run. */
  readonly getStatus: (runId: string) => Promise<DurableStatus | undefined>;
  /** Waits for the start of the engine; rejects if it was not started or was closed. Default: events can be read always. */
  readonly assertOpen?: () => Promise<void>;
}

/** Yields the events of a run until it has ended, the engine is closed or the signal aborts. */
export async function* followRunEvents(
  source: EventSource,
  runId: string,
  options: RunEventsOptions,
): AsyncGenerator<readonly PublishedEvent[], void> {
  if (!await isOpen(source)) return;
  try {
    yield* readUntilEnd(source, runId, options);
  } catch (error) {
    if (options.signal?.aborted) return;
    // The end of the engine interrupts reads.
    if (await isOpen(source)) ignoreClosed(error);
  }
}

async function* readUntilEnd(
  source: EventSource,
  runId: string,
  { after = 0, signal }: RunEventsOptions,
): AsyncGenerator<readonly PublishedEvent[], void> {
  // The storage may never answer.
  const untilAborted = <Value>(call: Promise<Value>) => signal ? abortable(call, signal) : call;
  let last = await untilAborted(findStart(source, runId, after));
  const watched = source.hub.watch(runId);
  let isChecked = false;
  try {
    while (!signal?.aborted && !watched.isClosed) {
      const { version } = watched;
      const records = await untilAborted(watched.read(last)).catch((error) => {
        // The end of the engine has interrupted the read.
        if (watched.isClosed) return [];
        throw error;
      });
      last = records.at(-1)?.number ?? last;
      const published = toPublished(records);
      if (published.length > 0) yield published;
      if (records.at(-1)?.type === "end") return;
      if (records.length > 0) continue;
      if (isChecked && await waitForChange(source, { watched, version, signal })) continue;
      isChecked = true;
      // A run that publishes none, or whose events are no longer kept.
      if (await untilAborted(hasEnded(source, watched, last))) return;
    }
  } finally {
    source.hub.unwatch(watched);
  }
}

/** Returns the events of a run that are stored now. */
export async function readRunEvents(
  source: EventSource,
  runId: string,
  after: RunEventsOptions["after"] = 0,
): Promise<readonly PublishedEvent[]> {
  await source.assertOpen?.();
  try {
    return toPublished(await readAll(source.storage, runId, await findStart(source, runId, after)));
  } catch (error) {
    await source.assertOpen?.();
    throw error;
  }
}

/** Whether an engine was not closed. */
async function isOpen({ assertOpen }: EventSource): Promise<boolean> {
  try {
    await assertOpen?.();
    return true;
  } catch (error) {
    return ignoreClosed(error) ?? false;
  }
}

async function findStart(
  { storage }: EventSource,
  runId: string,
  after: NonNullable<RunEventsOptions["after"]>,
): Promise<number> {
  if (after === "checkpoint") return await storage.findCheckpoint(runId);
  if (Number.isSafeInteger(after) && after >= 0) return after;
  throw new BadRequestError('after must be the number of an event, 0 or "checkpoint"');
}

/** A wait for a change since a version of a run. */
interface ChangeWait {
  readonly watched: WatchedRun;
  readonly version: number;
  readonly signal: AbortSignal | undefined;
}

/** Waits for new events; returns `false` if there are none for some time. */
async function waitForChange(
  { clock }: EventSource,
  { watched, version, signal }: ChangeWait,
): Promise<boolean> {
  if (signal?.aborted || watched.version !== version) return true;
  const ended = createDeferred<boolean>();
  const stopTimer = startTimer(clock, STATUS_MS, () => ended.resolve(false));
  const onChange = () => ended.resolve(true);
  signal?.addEventListener("abort", onChange);
  // A promise would keep each of the waits of a reader until the next event.
  const unsubscribe = watched.onChange(onChange);
  try {
    return await ended.promise;
  } finally {
    stopTimer();
    unsubscribe();
    signal?.removeEventListener("abort", onChange);
  }
}

/** Whether a run has ended, and all of its events are read. */
async function hasEnded(
  { getStatus, storage }: EventSource,
  { runId }: WatchedRun,
  last: number,
): Promise<boolean> {
  const status = await getStatus(runId).catch(ignoreClosed);
  if (status === undefined || status === "running") return false;
  const found = await storage.read([{ runId, after: last }], 1);
  return (found.get(runId) ?? []).length === 0;
}

/** Throws an error, unless it is that of a closed engine: what is published while one is closed is still read. */
function ignoreClosed(error: unknown): undefined {
  if (error instanceof EngineClosedError) return undefined;
  throw error;
}
