/**
 * Globs of protected files whose path leads through a link, such as `/tmp/**` of macOS.
 *
 * @module
 */

import { escapeGlob, GLOB_CHARACTER } from "../../core/ignore/glob.ts";
import { isAbsolute, join, SEPARATOR } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";

/**
 * Adds to each glob those for the files behind the links in its path, which are compared by their canonical paths. A glob that
 * begins with `!` keeps its meaning.
 *
 * @param roots Canonical directories to which the globs are relative.
 */
export function followGlobLinks(globs: readonly string[], roots: readonly string[]): string[] {
  return globs.flatMap((glob) => {
    const [, sign = "", pattern = ""] = /^(!?)(.*)$/s.exec(glob) ?? [];
    const starts = isAbsolute(pattern) ? [""] : roots;
    const linked = starts.flatMap((start) => followLinks(pattern, start));
    return [glob, ...linked.map((target) => sign + target)];
  });
}

/** Returns the glob with the canonical path of its start; none if no link is in it. */
function followLinks(pattern: string, start: string): string[] {
  const names = pattern.split("/").filter((name) => name !== "" && name !== ".");
  const first = names.findIndex((name) => GLOB_CHARACTER.test(name));
  const known = first < 0 ? names : names.slice(0, first);
  // Nothing behind a missing name is a link.
  for (let count = known.length; count > 0; count--) {
    const path = join(start || "/", ...known.slice(0, count));
    const canonical = tryRealPath(path);
    if (canonical === undefined) continue;
    if (canonical === path || !canonical.startsWith("/")) return [];
    return [[escapeGlob(canonical), ...names.slice(count)].join("/")];
  }
  return [];
}

function tryRealPath(path: string): string | undefined {
  try {
    return system.realPathSync(path).replaceAll(SEPARATOR, "/");
  } catch {
    return undefined;
  }
}
