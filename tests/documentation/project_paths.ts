/**
 * Lists the paths of a checkout and reads its pages and code.
 *
 * @module
 */

import { sourceFiles } from "../architecture/imports.ts";
import { root } from "../project.ts";

/** A page or a source file. */
export interface TextFile {
  /** Relative to the root of the checkout. */
  path: string;
  text: string;
}

const SKIPPED = new Set([".git", "node_modules", "dist"]);

/** Lists all files and directories, relative to the root. */
export async function listPaths(from: URL = root): Promise<string[]> {
  const paths: string[] = [];
  async function visit(directory: string): Promise<void> {
    for await (const { name, isDirectory } of Deno.readDir(new URL(directory, from))) {
      if (SKIPPED.has(name)) continue;
      paths.push(directory + name);
      if (isDirectory) await visit(`${directory}${name}/`);
    }
  }
  await visit("./");
  return paths.map((path) => path.replace("./", ""));
}

/** Directories with pages. */
const PAGE_DIRECTORIES = [
  "docs",
  "docs/decisions",
  "examples",
  "examples/server",
  "examples/workers",
];

/** Reads the pages of the root, of `docs` and of `examples`. */
export function readPages(from: URL = root): Promise<TextFile[]> {
  const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
  for (const directory of PAGE_DIRECTORIES) {
    for (const { name } of Deno.readDirSync(new URL(`${directory}/`, from))) {
      if (name.endsWith(".md")) pages.push(`${directory}/${name}`);
    }
  }
  return readTexts(pages, from);
}

/** Reads the shipped code, without tests. */
export async function readShippedCode(from: URL = root): Promise<TextFile[]> {
  const paths: string[] = [];
  for (const start of ["mod.ts", "src", "adapters", "cli"]) {
    paths.push(...await Array.fromAsync(sourceFiles(start, { tests: false, from })));
  }
  return readTexts(paths, from);
}

function readTexts(paths: readonly string[], from: URL): Promise<TextFile[]> {
  return Promise.all(
    paths.toSorted().map(async (path) => ({
      path,
      text: await Deno.readTextFile(new URL(path, from)),
    })),
  );
}
