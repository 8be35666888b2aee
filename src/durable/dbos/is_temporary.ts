/**
 * Failures of statements that may succeed later.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";

/**
 * Codes of sockets, and SQLSTATE classes and codes of a server that is restarted, fails over or lacks resources, or that has
 * cancelled a statement, such as one that has waited too long for a lock.
 */
const TEMPORARY_CODE = /^(E[A-Z]|08|25006|25P03|40001|40P01|53|55P03|57|58|XX000)/;

/** Whether an error has the code of a failure after which the same statement may succeed. */
export function hasTemporaryCode(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && TEMPORARY_CODE.test(code);
}

/** Whether the same statement may succeed later. The errors of the client for a lost connection have no code. */
export function isTemporary(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string"
    ? hasTemporaryCode(error)
    : /connection|terminated|not queryable/i.test(getErrorMessage(error));
}
