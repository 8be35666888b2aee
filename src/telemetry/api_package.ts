/**
 * Imports the npm package `@opentelemetry/api` on first use.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import type { OpenTelemetryApi } from "./api.ts";

/** The npm package and its version range, equal to that in deno.json. */
export const API_PACKAGE = { name: "@opentelemetry/api", range: "~1.9.0" } as const;

/**
 * Imports the package. The specifier is not a literal, because Deno and bundlers would download the package with the
 * library.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export async function importApi(): Promise<OpenTelemetryApi> {
  const { name, range } = API_PACKAGE;
  const specifier = `npm:${name}@${range}`;
  try {
    return await import(/* webpackIgnore: true */ specifier);
  } catch (cause) {
    // Runtimes without npm: specifiers resolve installed packages by name.
    return await importInstalled(name, cause);
  }
}

async function importInstalled(name: string, cause: unknown): Promise<OpenTelemetryApi> {
  try {
    return await import(/* webpackIgnore: true */ name);
  } catch {
    throw new BadRequestError(
      `Cannot load the npm package ${name}, which telemetry() needs: install it, or pass it as api`,
      { cause },
    );
  }
}
