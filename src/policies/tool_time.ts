/**
 * Adds up the time of tool calls.
 *
 * @module
 */

/** The time that tool calls have taken, and the most that those which run may take. */
export class ToolTime {
  readonly #reserved = new Map<string, number>();
  #spentMs = 0;

  /** Time of the calls that have ended, in milliseconds. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** The most that the calls which have not ended may take, in milliseconds. */
  get reservedMs(): number {
    let sum = 0;
    for (const reserved of this.#reserved.values()) sum += reserved;
    return sum;
  }

  /** Reserves the most that a call may take. */
  reserve(call: ToolTimeKey, maxMs: number): void {
    this.#reserved.set(toKey(call), maxMs);
  }

  /** Ends a call that took this long. */
  end(call: ToolTimeKey, durationMs: number): void {
    this.#reserved.delete(toKey(call));
    this.#spentMs += durationMs;
  }

  /** Releases what is reserved for the calls of a run, which did not run. */
  release({ runId }: Pick<ToolTimeKey, "runId">): void {
    const prefix = toKey({ runId, toolCallId: "" });
    for (const key of this.#reserved.keys()) if (key.startsWith(prefix)) this.#reserved.delete(key);
  }

  /** Sets the time of ended calls to 0. */
  reset(): void {
    this.#spentMs = 0;
  }
}

/** A tool call. */
export interface ToolTimeKey {
  readonly runId: string;
  readonly toolCallId: string;
}

function toKey({ runId, toolCallId }: ToolTimeKey): string {
  return `${JSON.stringify(runId)} ${toolCallId}`;
}
