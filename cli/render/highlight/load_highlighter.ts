/**
 * Loading of the highlighter, which the first line of a conversation does not need.
 *
 * @module
 */

import { importLate } from "../../host/import_late.ts";
import type { Highlighter } from "./highlighter.ts";

/** Loads the highlighter; `now` returns the current time in milliseconds. */
export async function loadHighlighter(
  options: { readonly now: () => number },
): Promise<Highlighter> {
  const { createModeHighlighter } = await importLate<typeof import("./mode_highlighter.ts")>(
    "./mode_highlighter.ts",
    import.meta.url,
  );
  return createModeHighlighter(options);
}
