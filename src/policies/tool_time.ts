/**
 * Adds up the time of tool calls.
 *
 * @module
 */

import type { OnDeltaContext, RunningCall } from "../core/hooks/policy.ts";

/** Identifies a tool call. */
export interface ToolTimeKey {
  readonly runId: string;
  readonly toolCallId: string;
}

/** The time that tool calls have taken, and the most that those which run may take. */
export class ToolTime {
  /** The most that each call which has not ended may take, in milliseconds. */
  readonly #reserved = new Map<string, number>();
  /** Time of each call that runs, in milliseconds. */
  readonly #running = new Map<string, number>();
  #spentMs = 0;

  /** Time of the calls that have ended, in milliseconds. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** Time of the calls that have ended, and of those that run, in milliseconds. */
  get elapsedMs(): number {
    return this.#spentMs + sum(this.#running);
  }

  /** The most that the calls which have not ended may take, in milliseconds. */
  get reservedMs(): number {
    return sum(this.#reserved);
  }

  /** Updates the time of the calls of a run. */
  update({ runId }: Pick<OnDeltaContext, "runId">, calls: readonly RunningCall[]): void {
    for (const { toolCallId, durationMs } of calls) {
      this.#running.set(toKey({ runId, toolCallId }), durationMs);
    }
  }

  /** Reserves the most that a call may take. */
  reserve(call: ToolTimeKey, maxMs: number): void {
    this.#reserved.set(toKey(call), maxMs);
  }

  /** Ends a call that took this long. */
  end(call: ToolTimeKey, durationMs: number): void {
    this.cancel(call);
    this.#spentMs += durationMs;
  }

  /** Releases what is reserved for a call. */
  cancel(call: ToolTimeKey): void {
    this.#reserved.delete(toKey(call));
    this.#running.delete(toKey(call));
  }

  /** Releases what is reserved for the calls of a run, which have ended or did not run. */
  release({ runId }: Pick<ToolTimeKey, "runId">): void {
    const prefix = toKey({ runId, toolCallId: "" });
    for (const calls of [this.#reserved, this.#running]) {
      for (const key of calls.keys()) if (key.startsWith(prefix)) calls.delete(key);
    }
  }

  /** Counts a part of the time of ended calls no longer. */
  forget(milliseconds: number): void {
    this.#spentMs -= milliseconds;
  }

  /** Sets the time of ended calls to 0. */
  reset(): void {
    this.#spentMs = 0;
  }
}

function sum(times: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const time of times.values()) total += time;
  return total;
}

function toKey({ runId, toolCallId }: ToolTimeKey): string {
  return `${JSON.stringify(runId)} ${toolCallId}`;
}
