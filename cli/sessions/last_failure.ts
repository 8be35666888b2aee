/**
 * The error because of which a session could not be written.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";

/** Keeps the last error until it is taken. */
export class LastFailure {
  #error: Error | undefined;
  #message: string | undefined;

  /** Keeps an error in place of the one before. */
  readonly set = (error: Error): void => {
    this.#error = error;
    this.#message = error.message;
  };

  /** Returns the error and forgets it. */
  readonly take = (): Error | undefined => {
    const error = this.#error;
    this.#error = undefined;
    return error;
  };

  /** Waits for the end of the recording. Its failure is not reported again if nothing else was the last one. */
  async finish(ending: Promise<void>): Promise<void> {
    try {
      await ending;
    } catch (error) {
      if (getErrorMessage(error) !== this.#message) throw error;
    }
  }
}
