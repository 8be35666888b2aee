/**
 * Creates the events of an application.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import type { CustomEvent } from "../core/events/event.ts";
import { copyJson } from "../core/json/copy_json.ts";

/**
 * Creates an event with a copy of its data.
 *
 * @throws {BadRequestError} If the name is no string, or the data is not JSON.
 */
export function createCustomEvent(name: string, data: unknown): CustomEvent {
  if (typeof name !== "string" || name === "") {
    throw new BadRequestError("A custom event must have a name");
  }
  try {
    return { type: "custom", name, data: copyJson(data) };
  } catch (cause) {
    const problem = getErrorMessage(cause);
    throw new BadRequestError(`The data of the event "${name}" must be JSON: ${problem}`, {
      cause,
    });
  }
}
