/**
 * Reads the imports of the project's files.
 *
 * @module
 */

import { root } from "../project.ts";

/** A file of the project and its imports, types included. */
export interface ImportingFile {
  /** Path relative to the root of the project: `src/core/tools/tool.ts`. */
  path: string;
  /** Imported files of the project, relative to its root. */
  internal: string[];
  /** Imported packages and built-in modules: `ajv`, `node:path`. */
  external: string[];
}

/** Reads the shipped code: `mod.ts` and the directories next to it, without tests. */
export async function readShippedFiles(from: URL = root): Promise<ImportingFile[]> {
  const files: ImportingFile[] = [];
  for (const start of ["mod.ts", "src", "adapters", "cli"]) {
    for await (const path of sourceFiles(start, { tests: false, from })) {
      files.push(readImports(path, await Deno.readTextFile(new URL(path, from))));
    }
  }
  return files;
}

/** Reads the imports of one file. */
export function readImports(path: string, source: string): ImportingFile {
  const specifiers = findSpecifiers(source);
  const internal = specifiers.filter((specifier) => specifier.startsWith("."));
  return {
    path,
    internal: internal.map((specifier) => new URL(specifier, `file:///${path}`).pathname.slice(1)),
    external: specifiers.filter((specifier) => !specifier.startsWith(".")),
  };
}

function findSpecifiers(source: string): string[] {
  const code = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const statements = code.matchAll(/^(?:import|export)\b(?:[^"';]*?\bfrom)?\s*"([^"]+)"/gm);
  const expressions = code.matchAll(/\bimport\(\s*"([^"]+)"/g);
  // Modules of workers and child processes, and lazily loaded ones, are named by URL.
  const urls = code.matchAll(/\bnew URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g);
  return [...statements, ...expressions, ...urls].flatMap(([, specifier]) => specifier ?? []);
}

/** Yields the TypeScript file at a path, or those below a directory. `tests: false` skips tests. */
export async function* sourceFiles(
  path: string,
  { tests = true, from = root }: { tests?: boolean; from?: URL } = {},
): AsyncGenerator<string> {
  const stat = await Deno.stat(new URL(path, from)).catch(() => undefined);
  if (stat?.isFile && path.endsWith(".ts") && (tests || !path.endsWith("_test.ts"))) yield path;
  if (!stat?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, from))) {
    yield* sourceFiles(`${path}/${entry.name}`, { tests, from });
  }
}
