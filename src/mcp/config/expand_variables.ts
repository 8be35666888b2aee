/**
 * Variables in the texts of a configuration.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";

/** Returns the value of a variable; `undefined` if it is not set. */
export type ReadVariable = (name: string) => string | undefined;

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}`, once: the value of a variable is not expanded. As in a shell, the default is
 * also used for an empty variable.
 *
 * @throws {BadRequestError} If a variable without a default is not set.
 */
export function expandVariables(text: string, readVariable: ReadVariable): string {
  return text.replaceAll(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    const value = readVariable(name);
    if (fallback !== undefined) return value || fallback;
    if (value !== undefined) return value;
    throw new BadRequestError(
      `The variable ${name} is not set: set it, pass it in environment, or write \${${name}:-default}`,
    );
  });
}
