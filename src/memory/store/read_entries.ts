/**
 * Reads some entries of a session.
 *
 * @module
 */

import type { Session } from "../../core/session.ts";
import type { SessionEntry } from "../../core/session_entry.ts";

/** Number of entries up to which each is read on its own. More take longer than reading the log once. */
const MAX_SINGLE_READS = 32;

/** Reads entries by their ids, in the order of the log. Those that cannot be read are omitted. */
export async function readEntries(
  session: Pick<Session, "entry" | "entries">,
  ids: readonly string[],
): Promise<readonly SessionEntry[]> {
  const entries: SessionEntry[] = [];
  if (ids.length <= MAX_SINGLE_READS) {
    for (const id of ids) {
      const entry = await session.entry(id);
      if (entry) entries.push(entry);
    }
    return entries;
  }
  const requested = new Set(ids);
  for await (const entry of session.entries()) {
    if (requested.has(entry.id)) entries.push(entry);
    if (entries.length === requested.size) break;
  }
  return entries;
}
