/**
 * Reads the imports of the project's files.
 *
 * @module
 */

import { root } from "../project.ts";

/** A file of the project and its imports, types included. */
export interface ImportingFile {
  /** From the root of the project: `src/core/tool.ts`. */
  path: string;
  /** Files of the project, from its root. */
  ours: string[];
  /** Packages and built-in modules: `ajv`, `node:path`. */
  others: string[];
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
  const specifiers = specifiersIn(source);
  const ours = specifiers.filter((specifier) => specifier.startsWith("."));
  return {
    path,
    ours: ours.map((specifier) => new URL(specifier, `file:///${path}`).pathname.slice(1)),
    others: specifiers.filter((specifier) => !specifier.startsWith(".")),
  };
}

function specifiersIn(source: string): string[] {
  const code = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const statements = code.matchAll(/^(?:import|export)\b(?:[^"';]*?\bfrom)?\s*"([^"]+)"/gm);
  const expressions = code.matchAll(/\bimport\(\s*"([^"]+)"/g);
  // Modules that run in a worker or process of their own, or are loaded lazily, are named by URL.
  const addresses = code.matchAll(/\bnew URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g);
  return [...statements, ...expressions, ...addresses].flatMap(([, specifier]) => specifier ?? []);
}

/** Yields the TypeScript files at or under a path, without tests on demand. */
export async function* sourceFiles(
  path: string,
  { tests = true, from = root }: { tests?: boolean; from?: URL } = {},
): AsyncGenerator<string> {
  const kind = await Deno.stat(new URL(path, from)).catch(() => undefined);
  if (kind?.isFile && path.endsWith(".ts") && (tests || !path.endsWith("_test.ts"))) yield path;
  if (!kind?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, from))) {
    yield* sourceFiles(`${path}/${entry.name}`, { tests, from });
  }
}
