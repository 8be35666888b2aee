/**
 * Imports npm packages on first use.
 *
 * @module
 */

/** An npm package that is imported on first use. */
export interface NpmPackage {
  /** Name of the package. */
  readonly name: string;
  /** Range of the versions, as in deno.json. */
  readonly range: string;
  /** Module of the package, such as `/fetch`. Default: its main module. */
  readonly path?: string;
}

/**
 * Imports a package. The specifiers are not literals, because Deno and bundlers would download the package with the
 * library.
 *
 * @throws The error of the `npm:` specifier, if the package can neither be downloaded nor is installed.
 */
export async function importNpmPackage<Package>(
  { name, range, path = "" }: NpmPackage,
): Promise<Package> {
  const specifier = `npm:${name}@${range}${path}`;
  try {
    return await import(/* webpackIgnore: true */ specifier);
  } catch (error) {
    // Runtimes without npm: specifiers resolve installed packages by name.
    const installed = `${name}${path}`;
    return await import(/* webpackIgnore: true */ installed).catch(() => {
      throw error;
    });
  }
}
