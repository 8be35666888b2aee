/**
 * The error of an engine that was closed.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";

/**
 * The engine of this process was closed. An effect of a run that fails with it, such as the start of another run, is not
 * recorded: the process that continues the run repeats it.
 */
export class EngineClosedError extends BadRequestError {
  constructor() {
    super("The engine was closed");
  }
}
