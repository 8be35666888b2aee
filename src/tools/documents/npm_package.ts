/**
 * Loads npm packages on first use.
 *
 * The specifiers are not literals, because Deno and bundlers would download the packages with every program.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";

/** The packages and their version ranges, equal to those in deno.json. */
export const DOCUMENT_PACKAGES = { "unpdf": "^1.8.1", "@cf-wasm/photon": "^0.4.0" } as const;

/**
 * Loads a package.
 *
 * @param path Module of the package, such as `/node`. Default: its main module.
 * @throws {BadRequestError} When it is not installed and cannot be downloaded.
 */
export async function loadNpmPackage(
  name: keyof typeof DOCUMENT_PACKAGES,
  path = "",
): Promise<unknown> {
  const specifier = `npm:${name}@${DOCUMENT_PACKAGES[name]}${path}`;
  try {
    return await import(/* webpackIgnore: true */ specifier);
  } catch (cause) {
    // Runtimes without npm: specifiers resolve installed packages by name.
    return await importInstalled(name + path, cause);
  }
}

async function importInstalled(specifier: string, cause: unknown): Promise<unknown> {
  try {
    return await import(/* webpackIgnore: true */ specifier);
  } catch {
    throw new BadRequestError(
      `Could not load the npm package ${specifier}, which reads this kind of file; install it: ${
        getErrorMessage(cause)
      }`,
      { cause },
    );
  }
}
