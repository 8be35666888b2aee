/**
 * The TypeScript examples in pages and comments, as modules.
 *
 * Examples marked `ts ignore` are not run, because they need a server, a key or a terminal.
 *
 * @module
 */

import { listCodeBlocks } from "../tests/documentation/code_blocks.ts";
import type { TextFile } from "../tests/documentation/project_paths.ts";

/** An example as a module. */
export interface Example {
  /** The file and the line of its first fence: `docs/agents.md:52`. */
  readonly place: string;
  readonly source: string;
  /** Whether it runs when it is imported. An ignored example is only checked, in a function. */
  readonly runs: boolean;
}

const root = new URL("../", import.meta.url);

const PLACES = [
  "mod.ts",
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "src",
  "adapters",
  "cli",
  "docs",
  "examples/README.md",
];

/** Reads the examples of the project. */
export async function readExamples(): Promise<Example[]> {
  const examples: Example[] = [];
  for (const place of PLACES) {
    for await (const path of listSources(place)) {
      examples.push(...listExamples({ path, text: await Deno.readTextFile(new URL(path, root)) }));
    }
  }
  return examples;
}

async function* listSources(path: string): AsyncGenerator<string> {
  const stat = await Deno.stat(new URL(path, root)).catch(() => undefined);
  if (stat?.isFile && /(?<!_test)\.(ts|md)$/.test(path)) yield path;
  if (!stat?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, root))) {
    yield* listSources(`${path}/${entry.name}`);
  }
}

/** Matches imports of files that only the reader has, and of other libraries. */
const FOREIGN_IMPORT = /from "(?!@swink\/agent|npm:|node:|@std\/)/;

const IMPORT = /^import [^;]+;\n/gm;

/** Returns the examples of a page or a source file, except for ignored ones with code of others. */
export function listExamples({ path, text }: TextFile): Example[] {
  const page = path.endsWith(".md") ? text : text.replaceAll(/^ *\* ?/gm, "");
  return listCodeBlocks({ path, text: page }).flatMap(({ place, language, text }): Example[] => {
    if (language === "ts") return [{ place, source: `${text}export {};\n`, runs: true }];
    if (language !== "ts ignore" || FOREIGN_IMPORT.test(text)) return [];
    return [{ place, source: wrapInFunction(text), runs: false }];
  });
}

function wrapInFunction(text: string): string {
  const imports = text.match(IMPORT)?.join("") ?? "";
  const body = text.replaceAll(IMPORT, "").replaceAll(/^export (default )?/gm, "");
  return `${imports}\nexport async function example() {\n${body}\n}\n`;
}

/** Writes each example to a file in a directory. Returns the names of the files, in the order of the examples. */
export async function writeExamples(
  directory: string,
  examples: readonly Example[],
): Promise<string[]> {
  return await Promise.all(examples.map(async ({ place, source }) => {
    const name = `${place.replaceAll(/[/:]/g, "_")}.ts`;
    await Deno.writeTextFile(`${directory}/${name}`, source);
    return name;
  }));
}
