/**
 * Suggestions for a missing path.
 *
 * @module
 */

import { levenshteinDistance } from "@std/text/levenshtein-distance";
import { dirname } from "../../platform/paths.ts";
import { quotePath } from "../files/file_error.ts";
import type { SandboxFiles } from "./sandbox_files.ts";

/** Returns `; did you mean "…"?` with up to three similar names in the same directory; empty when there are none. */
export async function suggestNames(files: SandboxFiles, path: string): Promise<string> {
  const names = await files.readDirectory(dirname(path)).catch(() => []);
  const requested = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const suggestions = names
    .map(({ name }) => ({ name, distance: levenshteinDistance(requested, name.toLowerCase()) }))
    .filter(({ name, distance }) =>
      distance <= Math.max(2, Math.min(requested.length, name.length) / 3)
    )
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => quotePath(name));
  return suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`;
}
