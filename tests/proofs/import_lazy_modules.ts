import { root } from "../project.ts";

/** Matches an import in code, not one of a type or in an example of a comment. */
const LAZY_IMPORT = /^(?! *\*).*(?<!typeof )\bimport\("([^"]+)"\)/gm;

/**
 * Imports the modules that the files of a directory import when they first need them.
 *
 * A run under a simulated clock waits for timers and microtasks only, so its result would depend on how fast files load.
 */
export async function importLazyModules(directory: string): Promise<void> {
  const url = new URL(directory, root);
  for await (const { name, isDirectory } of Deno.readDir(url)) {
    if (isDirectory) await importLazyModules(`${directory}${name}/`);
    if (!/(?<!_test)\.ts$/.test(name)) continue;
    const file = new URL(name, url);
    for (const [, specifier = ""] of (await Deno.readTextFile(file)).matchAll(LAZY_IMPORT)) {
      await import(specifier.startsWith(".") ? new URL(specifier, file).href : specifier);
    }
  }
}
