/**
 * The outcome of a durable run.
 *
 * @module
 */

import type { DurableStatus } from "../../core/durable/durable_engine.ts";
import { AbortedError, type AgentErrorRecord, StreamError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonValue } from "../../core/json/json.ts";
import { fromErrorRecord } from "../steps/step_record.ts";

/** The outcome of a run, as engines record it. */
export type DurableOutcome =
  | { readonly type: "completed"; readonly value: JsonValue }
  | {
    readonly type: "failed";
    readonly error: Partial<AgentErrorRecord> & { readonly message: string };
  }
  | {
    readonly type: "aborted";
    /** The output, if the workflow has ended in order. */
    readonly value?: JsonValue;
    readonly reason?: string;
  };

/** Returns a recorded outcome; a value that is none counts as failed. */
export function parseOutcome(recorded: unknown): DurableOutcome {
  const types: readonly unknown[] = ["completed", "failed", "aborted"] satisfies DurableStatus[];
  if (isJsonObject(recorded) && types.includes(recorded["type"])) {
    return recorded as unknown as DurableOutcome;
  }
  return { type: "failed", error: { message: "The record of the outcome is damaged" } };
}

/**
 * Returns the output of a run.
 *
 * @throws The error of a run that has failed, and an `AbortedError` for one that was aborted without output.
 */
export function unwrapRun(outcome: DurableOutcome): JsonValue {
  switch (outcome.type) {
    case "completed":
      return outcome.value;
    case "aborted":
      if (outcome.value !== undefined) return outcome.value;
      throw new AbortedError(outcome.reason);
    case "failed": {
      const error = fromErrorRecord(outcome.error);
      throw outcome.error.code === undefined
        ? new StreamError(`The workflow failed: ${error.message}`, { cause: error })
        : error;
    }
  }
}
