/**
 * The error of a replay that differs from the record.
 *
 * @module
 */

import { BadRequestError } from "./errors.ts";

/** A durable run cannot be continued: its code begins other steps, or steps with another input, than were recorded. */
export class DivergenceError extends BadRequestError {
  /** Name of the step at which the replay differs. */
  readonly step: string;

  constructor(step: string, difference: string) {
    super(
      `The replay of the run differs from its record at step "${step}": ${difference}. The code of a workflow must be ` +
        "deterministic, and must not change while its runs are active: register the changed code under a new name",
    );
    this.name = "DivergenceError";
    this.step = step;
  }
}
