/**
 * The option of `open()` of a store.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject, createValueError } from "../../core/checks/check_object.ts";
import type { SessionAccess } from "../../core/sessions/session.ts";

/**
 * Returns the access with which a session is opened. Default: `"write"`.
 *
 * @throws {BadRequestError} If the options are no object, one is unknown, or the access is neither `"write"` nor `"read"`.
 */
export function readAccess(options: { readonly access?: SessionAccess }): SessionAccess {
  checkObject(options, 'Pass options of open() such as { access: "read" }');
  checkNames(options, ["access"], "open()");
  const { access = "write" } = options;
  if (access === "write" || access === "read") return access;
  throw createValueError('access must be "write" or "read"', access);
}
