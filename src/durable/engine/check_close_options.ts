/**
 * Checks the options with which an engine is closed.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import type { CloseEngineOptions } from "../../core/durable/durable_engine.ts";

/**
 * Checks the options of `close()` of an engine.
 *
 * @throws {BadRequestError} If they are no object, an option is unknown, or `graceMs` is no number of at least 0.
 */
export function checkCloseOptions(options: CloseEngineOptions): void {
  checkObject(options, "Pass options of close() such as { graceMs: 5_000 }");
  checkNames(options, ["graceMs"], "close()");
  checkNumber("graceMs", options.graceMs);
}
