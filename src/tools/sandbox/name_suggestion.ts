/**
 * The name that was probably meant.
 *
 * @module
 */

import { dirname } from "../files/paths.ts";
import { quotePath } from "../files/file_error.ts";
import type { SandboxFiles } from "./sandbox_files.ts";

/** Names beside a missing path that look like it, as the end of a sentence; empty when there are none. */
export async function suggestNames(files: SandboxFiles, path: string): Promise<string> {
  const names = await files.readDirectory(dirname(path)).catch(() => []);
  const wanted = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const near = names
    .map(({ name }) => ({ name, distance: editDistance(wanted, name.toLowerCase()) }))
    .filter(({ name, distance }) =>
      distance <= Math.max(2, Math.min(wanted.length, name.length) / 3)
    )
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => quotePath(name));
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
}

/** How many characters must change to make one text of the other (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
