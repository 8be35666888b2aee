/**
 * Reads and parses the source files of a checkout.
 *
 * @module
 */

import ts from "typescript";
import { sourceFiles } from "../../tests/architecture/imports.ts";

/** A parsed file. */
export interface SourceFile {
  /** Relative to the root of the checkout. */
  path: string;
  ast: ts.SourceFile;
}

/** Reads the shipped code of a checkout, without its tests. */
export async function readShippedSources(root: URL): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const start of ["mod.ts", "src", "adapters", "cli"]) {
    for await (const path of sourceFiles(start, { tests: false, from: root })) {
      files.push(parseSource(path, await Deno.readTextFile(new URL(path, root))));
    }
  }
  return files.toSorted((a, b) => a.path.localeCompare(b.path));
}

/** Parses the text of a file, with parent links. */
export function parseSource(path: string, text: string): SourceFile {
  return { path, ast: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

/** Calls `visit` with a node and all of its descendants. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
