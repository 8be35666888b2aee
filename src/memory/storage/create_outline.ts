/**
 * Builds the outline of a session from the rows of a database, which may be damaged or forged.
 *
 * @module
 */

import type { EntryOutline } from "../../core/sessions/session_entry.ts";

/** Maximum number of missing entries: a forged number of entries must not fill the memory. */
const MAX_MISSING = 100_000;

/**
 * Builds the outline of a session with `count` entries from those that can be read, by their positions; others are
 * `undefined`. The outline ends where more than 100,000 are missing.
 */
export function createOutline(
  count: number,
  entries: ReadonlyMap<number, EntryOutline>,
): readonly (EntryOutline | undefined)[] {
  const length = Math.min(Math.max(0, count), entries.size + MAX_MISSING);
  return Array.from({ length }, (_, position) => entries.get(position));
}
