/**
 * Finds inline code that a line break divides, as `deno fmt` does where a code span with blanks meets the end of a line.
 *
 * @module
 */

import type { TextFile } from "./project_paths.ts";

/** Returns the lines of a page on which inline code begins and does not end, or ends and does not begin. */
export function findBrokenSpans({ path, text }: TextFile): string[] {
  const prose = text.replaceAll(
    /^ *```[\s\S]*?^ *```$/gm,
    (block) => block.replaceAll(/[^\n]/g, ""),
  );
  return prose.split("\n").flatMap((line, index) => {
    const ticks = line.replaceAll(/(`+)(?!`).+?(?<!`)\1(?!`)/g, "").match(/`/g)?.length ?? 0;
    return ticks === 0 ? [] : [`${path}:${index + 1}: ${line.trim()}`];
  });
}
