/**
 * The npm package `yaml`, imported on first use.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { importNpmPackage } from "../../core/ports/npm_package.ts";

/** The npm package and its version range, equal to that in deno.json. */
export const YAML_PACKAGE = { name: "yaml", range: "^2.9.1" } as const;

/**
 * Imports the package.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export async function importYaml(): Promise<typeof import("yaml")> {
  try {
    return await importNpmPackage(YAML_PACKAGE);
  } catch (cause) {
    throw new BadRequestError(
      `Cannot load the npm package ${YAML_PACKAGE.name}, which cases in YAML and JSON need: install it, or pass the cases as objects`,
      { cause },
    );
  }
}
