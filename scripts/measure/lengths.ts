/**
 * Measures how long functions and files are, in lines.
 *
 * @module
 */

import { listFunctions } from "./functions.ts";
import type { SourceFile } from "./source_files.ts";
import { computeQuantiles, type Quantiles } from "./statistics.ts";

/** Lengths and the longest items, as `90 src/core/a.ts:12 parse`. */
export interface Lengths extends Quantiles {
  longest: string[];
}

interface Item {
  lines: number;
  title: string;
}

const LONGEST = 5;

/** Measures the named functions, each from its declaration to its closing brace. */
export function measureFunctionLengths(files: readonly SourceFile[]): Lengths {
  const functions = listFunctions(files);
  return measure(
    functions.map(({ lines, location, name }) => ({ lines, title: `${location} ${name}` })),
  );
}

/** Measures the files. */
export function measureFileLengths(files: readonly SourceFile[]): Lengths {
  return measure(files.map(({ path, ast }) => ({
    lines: ast.text.trimEnd().split("\n").length,
    title: path,
  })));
}

function measure(items: readonly Item[]): Lengths {
  const longest = items.toSorted((a, b) => b.lines - a.lines).slice(0, LONGEST);
  return {
    ...computeQuantiles(items.map(({ lines }) => lines)),
    longest: longest.map(({ lines, title }) => `${lines} ${title}`),
  };
}
