/**
 * Reads what the project's files import from each other and from outside.
 *
 * @module
 */

import { root } from "../project.ts";

/** One file of the project and what it imports, types included. */
export interface ImportingFile {
  /** From the root of the project: `src/core/tool.ts`. */
  path: string;
  /** Files of the project, from its root. */
  ours: string[];
  /** Packages and built-in modules: `ajv`, `node:path`. */
  others: string[];
}

/** Reads the shipped code: `mod.ts` and the folders beside it, without tests. */
export async function readShippedFiles(): Promise<ImportingFile[]> {
  const files: ImportingFile[] = [];
  for (const start of ["mod.ts", "src", "adapters", "cli"]) {
    for await (const path of findSourceFiles(start, { tests: false })) {
      files.push(readImports(path, await Deno.readTextFile(new URL(path, root))));
    }
  }
  return files;
}

/** Reads the imports of one file. */
export function readImports(path: string, source: string): ImportingFile {
  const specifiers = findSpecifiers(source);
  const ours = specifiers.filter((specifier) => specifier.startsWith("."));
  return {
    path,
    ours: ours.map((specifier) => new URL(specifier, `file:///${path}`).pathname.slice(1)),
    others: specifiers.filter((specifier) => !specifier.startsWith(".")),
  };
}

function findSpecifiers(source: string): string[] {
  const code = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const statements = code.matchAll(/^(?:import|export)\b(?:[^"';]*?\bfrom)?\s*"([^"]+)"/gm);
  const expressions = code.matchAll(/\bimport\(\s*"([^"]+)"/g);
  // Modules that run in a thread or process of their own, or are loaded late, are named by their address.
  const addresses = code.matchAll(/\bnew URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g);
  return [...statements, ...expressions, ...addresses].flatMap(([, specifier]) => specifier ?? []);
}

/** The TypeScript files at or under a path, tests left out on demand. */
export async function* findSourceFiles(
  path: string,
  { tests = true } = {},
): AsyncGenerator<string> {
  const kind = await Deno.stat(new URL(path, root)).catch(() => undefined);
  if (kind?.isFile && path.endsWith(".ts") && (tests || !path.endsWith("_test.ts"))) yield path;
  if (!kind?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, root))) {
    yield* findSourceFiles(`${path}/${entry.name}`, { tests });
  }
}
