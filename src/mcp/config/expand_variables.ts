/**
 * Variables in the texts of a configuration.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}`, once: the value of a variable is not expanded. As in a shell, the default is
 * also used for an empty variable.
 *
 * @throws {BadRequestError} If a variable without a default is not set. The message begins with the key of the text.
 */
export function expandVariables(key: string, text: string, variables: Variables): string {
  return text.replaceAll(VARIABLE, (_match, name: string, fallback: string | undefined) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (fallback !== undefined) return value || fallback;
    if (value !== undefined) return value;
    throw new BadRequestError(
      `${key}: the variable ${name} is not set: pass it in environment, or write \${${name}:-default}`,
    );
  });
}

/** Returns the values of the variables in texts, without defaults. */
export function listValues(texts: readonly string[], variables: Variables): readonly string[] {
  const names = texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name = ""]) => name));
  return names.flatMap((name) =>
    Object.hasOwn(variables, name) && variables[name] !== undefined ? [variables[name]] : []
  );
}
