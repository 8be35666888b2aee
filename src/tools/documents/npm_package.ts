/**
 * The npm packages that read documents and images.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { importNpmPackage } from "../../core/ports/npm_package.ts";

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
  try {
    return await importNpmPackage({ name, range: DOCUMENT_PACKAGES[name], path });
  } catch (cause) {
    throw new BadRequestError(
      `Could not load the npm package ${name}${path}, which reads this kind of file; install it: ${
        getErrorMessage(cause)
      }`,
      { cause },
    );
  }
}
