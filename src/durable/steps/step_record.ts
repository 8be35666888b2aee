/**
 * The recorded value of a step.
 *
 * @module
 */

import type { ReceivedMessage } from "../../core/durable/durable_steps.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { DivergenceError } from "../../core/errors/divergence_error.ts";
import { AgentError, type AgentErrorRecord, getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonValue, toJsonValue } from "../../core/json/json.ts";
import { DetachedError } from "./step_journal.ts";

/** The result of a step: its value, or the error that it has thrown. */
export type StepOutcome =
  | { readonly value: JsonValue }
  | { readonly error: Partial<AgentErrorRecord> & { readonly message: string } };

/** A step as it is recorded. */
export type StepRecord = StepOutcome & {
  /** Time of the end, in milliseconds since the epoch. */
  readonly at: number;
  /** Position of its end among concurrent steps, from 1. Default: it was not concurrent with others. */
  readonly order?: number;
  /** Hash of the input. Default: the input is not checked. */
  readonly input?: string;
  /** Number of the last event of executions before this one, which were interrupted. Default: there was none. */
  readonly interrupted?: number;
  /** The messages that had arrived at the end, apart from those of earlier steps. Default: none. */
  readonly messages?: readonly ReceivedMessage[];
};

/**
 * Calls a function; returns its value or its error. Rejects only if another process must call it, since this one ends the
 * execution of the run, of which `closing` is aborted.
 */
export async function captureOutcome(
  execute: () => unknown,
  closing: AbortSignal,
): Promise<StepOutcome> {
  try {
    return toOutcome(await execute());
  } catch (thrown) {
    // The function would have succeeded in a process whose engine is open. That of another engine fails in each process.
    const isEnd = thrown instanceof EngineClosedError || thrown instanceof DetachedError;
    if (isEnd && closing.aborted) throw thrown;
    return { error: toErrorRecord(thrown) };
  }
}

function toOutcome(value: unknown): StepOutcome {
  if (value === undefined) return { value: null };
  const converted = toJsonValue(value);
  if ("value" in converted) return converted;
  return { error: { message: `The value of a step must be JSON: ${converted.problem}` } };
}

/** Returns the JSON form of an error. */
function toErrorRecord(
  thrown: unknown,
): Partial<AgentErrorRecord> & { readonly message: string } {
  return AgentError.is(thrown) ? thrown.toJSON() : { message: getErrorMessage(thrown) };
}

/** Returns the error of a JSON form: an `AgentError` if it was one. */
export function fromErrorRecord(
  record: Partial<AgentErrorRecord> & { readonly message: string },
): Error {
  return record.code === undefined
    ? new Error(record.message)
    : AgentError.from(record as AgentErrorRecord);
}

/**
 * Returns the value of a record.
 *
 * @throws The recorded error.
 */
export function unwrapOutcome(outcome: StepOutcome): JsonValue {
  if ("value" in outcome) return outcome.value;
  throw fromErrorRecord(outcome.error);
}

/**
 * Checks that a recorded value is a record of the step.
 *
 * @throws {DivergenceError} If it is not, or has another input.
 */
export function parseRecord(
  step: string,
  recorded: JsonValue,
  input: string | undefined,
): StepRecord {
  if (!isJsonObject(recorded) || typeof recorded["at"] !== "number") {
    throw new DivergenceError(step, "its record is not that of a step");
  }
  const record = recorded as unknown as StepRecord;
  if (record.input !== input) {
    throw new DivergenceError(step, "its input is another one than was recorded");
  }
  return record;
}
