/**
 * Prints figures about the readability of the code: banned words, small functions, lengths, call depth, import cycles, dead
 * paths and public names.
 *
 * The argument is the root of a checkout, by default this one; `--list` also prints the items behind the figures.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { findDirectoryCycles, findImportCycles } from "../tests/architecture/import_cycles.ts";
import { readShippedFiles } from "../tests/architecture/imports.ts";
import { findDeadPaths } from "../tests/documentation/dead_paths.ts";
import { findDeadLinks } from "../tests/documentation/markdown_links.ts";
import { listPaths, readPages, readShippedCode } from "../tests/documentation/project_paths.ts";
import { SymbolResolver } from "../tests/documentation/symbol_links.ts";
import { countBannedWords } from "./measure/banned_words.ts";
import { measureCallChain } from "./measure/call_depth.ts";
import { type Lengths, measureFileLengths, measureFunctionLengths } from "./measure/lengths.ts";
import { findRepeatedNames, listPublicNames } from "./measure/public_names.ts";
import { findSingleUseFunctions } from "./measure/single_use_functions.ts";
import { readShippedSources, type SourceFile } from "./measure/source_files.ts";

/** A figure and the items behind it. */
interface Figure {
  name: string;
  value: number | string;
  items?: string[];
}

const SMALL_FUNCTION_LINES = 3;

async function measureCode(root: URL): Promise<Figure[]> {
  const files = await readShippedSources(root);
  return [
    ...await measureWords(root),
    ...measureSingleUse(files),
    ...describeLengths("function length", measureFunctionLengths(files)),
    ...describeLengths("file length", measureFileLengths(files)),
    ...await measureCallDepth(root),
    ...await measureCycles(root),
    ...await measureDocumentation(root),
    ...await measurePublicNames(root),
  ];
}

async function measureWords(root: URL): Promise<Figure[]> {
  const count = await countBannedWords(root);
  return [
    { name: "banned words in identifiers", value: count.identifiers },
    { name: "banned words in comments", value: count.comments },
    { name: "banned words in texts", value: count.texts },
    { name: "banned words in file names", value: count.fileNames },
    { name: `comments that begin with "What"`, value: count.openingWhats },
  ];
}

function measureSingleUse(files: readonly SourceFile[]): Figure[] {
  const singleUse = findSingleUseFunctions(files);
  const small = singleUse.filter(({ lines }) => lines <= SMALL_FUNCTION_LINES);
  const items = small.map(({ location, name }) => `${location} ${name}`);
  return [
    { name: "private functions called once", value: singleUse.length },
    { name: `… of at most ${SMALL_FUNCTION_LINES} lines in total`, value: small.length, items },
    {
      name: `… of at most ${SMALL_FUNCTION_LINES} lines in the body`,
      value: singleUse.filter(({ bodyLines }) => bodyLines <= SMALL_FUNCTION_LINES).length,
    },
  ];
}

function describeLengths(name: string, { median, p90, p99, max, longest }: Lengths): Figure[] {
  return [{
    name: `${name}: median / p90 / p99 / max`,
    value: `${median} / ${p90} / ${p99} / ${max}`,
    items: longest,
  }];
}

async function measureCallDepth(root: URL): Promise<Figure[]> {
  const items = (await measureCallChain(root)).map(({ name }) => name);
  return [{ name: "functions from prompt() to fetch", value: items.length, items }];
}

async function measureCycles(root: URL): Promise<Figure[]> {
  const imports = await readShippedFiles(root);
  const cycles = findImportCycles(imports);
  const directoryCycles = findDirectoryCycles(imports).map((group) => group.join(", "));
  return [
    { name: "import cycles between files", value: cycles.length, items: cycles },
    {
      name: "import cycles between directories",
      value: directoryCycles.length,
      items: directoryCycles,
    },
  ];
}

async function measureDocumentation(root: URL): Promise<Figure[]> {
  const [paths, pages, code] = await Promise.all([
    listPaths(root),
    readPages(root),
    readShippedCode(root),
  ]);
  const resolver = new SymbolResolver(code);
  const deadPaths = [...pages, ...code].flatMap((file) => findDeadPaths(file, paths));
  const deadLinks = pages.flatMap((page) => findDeadLinks(page, pages, paths));
  const deadTags = code.flatMap((file) => resolver.findDeadLinks(file));
  return [
    { name: "dead paths in pages and comments", value: deadPaths.length, items: deadPaths },
    { name: "dead links in pages", value: deadLinks.length, items: deadLinks },
    { name: "link tags out of scope", value: deadTags.length, items: deadTags },
  ];
}

async function measurePublicNames(root: URL): Promise<Figure[]> {
  const names = await listPublicNames((path) => Deno.readTextFile(new URL(path, root)));
  const all = new Set(Object.values(names).flat());
  const repeated = findRepeatedNames(names);
  return [
    ...Object.entries(names).map(([module, { length }]) => ({
      name: `public names of ${module}`,
      value: length,
    })),
    { name: "distinct public names", value: all.size },
    { name: "public names of more than one module", value: repeated.length },
  ];
}

async function main(args: string[]): Promise<void> {
  const { list, _: [path = new URL("..", import.meta.url).pathname] } = parseArgs(args, {
    boolean: ["list"],
  });
  const root = new URL(`file://${await Deno.realPath(String(path))}/`);
  for (const { name, value, items = [] } of await measureCode(root)) {
    console.log(`${name.padEnd(46)} ${value}`);
    if (list) items.forEach((item) => console.log(`    ${item}`));
  }
}

if (import.meta.main) await main(Deno.args);
