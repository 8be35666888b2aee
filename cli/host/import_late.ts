/**
 * Imports of modules that the first request of a run does not need.
 *
 * @module
 */

/**
 * Imports a module by a path relative to `base`, the URL of the importing module.
 *
 * Deno loads modules with a literal specifier together with the importing module, which would delay the first request;
 * so the specifier is computed. `scripts/compile` finds such modules for `deno compile`.
 */
export async function importLate<Module>(path: string, base: string): Promise<Module> {
  return await import(new URL(path, base).href);
}
