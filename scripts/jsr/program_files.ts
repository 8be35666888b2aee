/**
 * A type that refers to all files of the bundled program.
 *
 * Deno downloads what types refer to when it installs or caches a program, and ignores it when it runs one. So the
 * installed program is complete and works without a network, while a run still loads no more than it needs.
 *
 * @module
 */

import { BUNDLE_DIRECTORY } from "./late_modules.ts";

/** Name of the module with the type, in the bundle. */
export const FILES_MODULE = "files.ts";

/** Matches the path of a source file that the bundle runs in a worker or a helper. */
const SOURCE_FILE = /\bnew URL\("(\.\.\/[^"]+\.ts)", import\.meta\.url\)/g;

/** Returns the source of the module with the type. */
export function formatProgramFiles(bundle: ReadonlyMap<string, string>): string {
  const scripts = [...bundle].filter(([name]) => name.endsWith(".js"));
  const sources = scripts.flatMap(([, code]) => [...code.matchAll(SOURCE_FILE)]);
  const paths = new Set([
    ...scripts.map(([name]) => `./${name}`),
    ...sources.map(([, path = ""]) => path),
  ]);
  const types = [...paths].toSorted().map((path) => `  typeof import("${path}"),\n`);
  return `/** All files of the program. */\nexport type ProgramFiles = [\n${types.join("")}];\n`;
}

/** Adds a reference to the type to the main module of the program. */
export function addProgramFiles(main: string): string {
  const directory = BUNDLE_DIRECTORY.slice(BUNDLE_DIRECTORY.indexOf("/") + 1);
  return `${main}
/** Has \`deno install\` download the whole program. */
type ProgramFiles = import("./${directory}/${FILES_MODULE}").ProgramFiles;
`;
}
