/**
 * Imports the npm package `@opentelemetry/api` on first use.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { importNpmPackage } from "../core/ports/npm_package.ts";
import type { OpenTelemetryApi } from "./api.ts";

/** The npm package and its version range, equal to that in deno.json. */
export const API_PACKAGE = { name: "@opentelemetry/api", range: "~1.9.0" } as const;

/**
 * Imports the package.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export async function importApi(): Promise<OpenTelemetryApi> {
  try {
    return await importNpmPackage(API_PACKAGE);
  } catch (cause) {
    throw new BadRequestError(
      `Cannot load the npm package ${API_PACKAGE.name}, which telemetry() needs: install it, or pass it as api`,
      { cause },
    );
  }
}
