/**
 * Kinds of failures of statements.
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

/** SQLSTATE of a row whose key exists. */
const UNIQUE_VIOLATION = "23505";

/** Whether a row with the key of a new one exists, such as when another process has got the number of a record. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === UNIQUE_VIOLATION;
}

/** Whether the same statement may succeed later. The errors of the client for a lost connection have no code. */
export function isTemporary(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string"
    ? hasTemporaryCode(error)
    : /connection|terminated|not queryable/i.test(getErrorMessage(error));
}
