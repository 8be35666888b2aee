/**
 * Reads some entries of a session.
 *
 * @module
 */

import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";

/** Number of entries up to which each is read on its own. */
const MAX_SINGLE_READS = 32;
/** Number of entries of the log that are read together in about the time in which one is read on its own. */
const ENTRIES_PER_READ = 16;

/** Reads entries by their ids, in the order of the log. Those that cannot be read are omitted. */
export async function readEntries(
  session: Pick<Session, "entry" | "entries" | "outline">,
  ids: readonly string[],
): Promise<readonly SessionEntry[]> {
  const entries: SessionEntry[] = [];
  const requested = new Set(ids);
  // The log is read from its beginning, which takes long if the entries are the last ones of many.
  const position = session.outline.findLastIndex(({ id }) => requested.has(id));
  if (ids.length <= Math.max(MAX_SINGLE_READS, position / ENTRIES_PER_READ)) {
    for (const id of ids) {
      const entry = await session.entry(id);
      if (entry) entries.push(entry);
    }
    return entries;
  }
  for await (const entry of session.entries()) {
    if (requested.has(entry.id)) entries.push(entry);
    if (entries.length === requested.size) break;
  }
  return entries;
}
