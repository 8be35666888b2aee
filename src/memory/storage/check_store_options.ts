/**
 * Checks of the options of session stores, which often come from the environment of a program.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";

/**
 * Checks that the options of a store are an object: stores of other libraries take a path or URL instead. The message does
 * not quote the value, since a URL may have a password. An unknown option is an error, since a misspelt one would have no
 * effect.
 *
 * @throws {BadRequestError} If they are no object, or one is unknown; the message has an example.
 */
export function checkStoreOptions(
  name: string,
  options: unknown,
  { example, known }: { readonly example: string; readonly known: readonly string[] },
): void {
  if (isJsonObject(options)) return checkNames(options, known, `new ${name}()`);
  const kind = typeof options === "string" ? "a text" : describeValue(options);
  throw new BadRequestError(
    `The options of ${name} must be an object, not ${kind}: write new ${name}(${example})`,
  );
}

/**
 * Checks the path of a store. An empty directory would be the root of the file system, and SQLite would keep a database
 * with an empty path only until it is closed.
 *
 * @throws {BadRequestError} If the path is no text, or empty.
 */
export function checkPath(name: "directory" | "path", path: unknown): void {
  if (typeof path === "string" && path !== "") return;
  throw new BadRequestError(
    `${name} must be a path such as "data/sessions", not ${describeValue(path)}`,
  );
}

/**
 * Checks the duration of leases: without a positive one, a session could have two writers, or none after a crash.
 *
 * @throws {BadRequestError} If it is not a positive number.
 */
export function checkLeaseDuration(milliseconds: unknown): void {
  if (typeof milliseconds === "number" && milliseconds > 0) return;
  throw new BadRequestError(
    `leaseMs must be a positive number of milliseconds, not ${describeValue(milliseconds)}`,
  );
}
