/**
 * Finds circles in what files import.
 *
 * @module
 */

import type { ImportingFile } from "./imports.ts";

/** The circles, each as `a.ts → b.ts → a.ts`; a circle is told once. */
export function findImportCycles(files: readonly ImportingFile[]): string[] {
  const importsOf = new Map(files.map((file) => [file.path, file.ours]));
  const circles: string[] = [];
  const done = new Set<string>();

  function visit(path: string, way: string[]): void {
    const start = way.indexOf(path);
    if (start >= 0) circles.push([...way.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const imported of importsOf.get(path) ?? []) visit(imported, [...way, path]);
    done.add(path);
  }

  for (const { path } of files) visit(path, []);
  return circles;
}
