/**
 * The npm package `yaml`, imported on first use.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** The npm package and its version range, equal to that in deno.json. */
export const YAML_PACKAGE = { name: "yaml", range: "^2.9.1" } as const;

/**
 * Imports the package. The specifier is not a literal, because Deno and bundlers would download it with the library.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export async function importYaml(): Promise<typeof import("yaml")> {
  const { name, range } = YAML_PACKAGE;
  const specifier = `npm:${name}@${range}`;
  try {
    return await import(/* webpackIgnore: true */ specifier);
  } catch (cause) {
    // Runtimes without npm: specifiers resolve installed packages by name.
    return await importInstalled(name, cause);
  }
}

async function importInstalled(name: string, cause: unknown): Promise<typeof import("yaml")> {
  try {
    return await import(/* webpackIgnore: true */ name);
  } catch {
    throw new BadRequestError(
      `Cannot load the npm package ${name}, which cases in YAML and JSON need: install it, or pass the cases as objects`,
      { cause },
    );
  }
}
