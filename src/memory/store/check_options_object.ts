/**
 * Checks that options are an object.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";

/**
 * Checks that the options of a session are an object, since other libraries take the id itself.
 *
 * @throws {BadRequestError} If they are not.
 */
export function checkOptionsObject(subject: string, options: unknown): void {
  if (isJsonObject(options)) return;
  throw new BadRequestError(
    `The options of ${subject} must be an object, such as { id: "ada" }, not ${
      describeValue(options)
    }`,
  );
}
