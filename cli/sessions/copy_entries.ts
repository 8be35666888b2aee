/**
 * The entries of a log of file changes, for another log.
 *
 * @module
 */

import type { ChangeLogEntry, ChangeLogStore } from "../../src/tools/changes/change_log_entry.ts";

/** Appends the entries of a log to another one, with the contents that they need. */
export async function copyEntries(source: ChangeLogStore, target: ChangeLogStore): Promise<void> {
  const copied = new Set<string>();
  for (const entry of await source.entries()) {
    for (const hash of listNeeded(entry)) {
      if (hash === null || copied.has(hash)) continue;
      const content = await source.readContent(hash);
      if (content) await target.saveContent(hash, content);
      copied.add(hash);
    }
    await target.append(entry);
  }
}

/** Lists the hashes of the contents that an undo or a redo restores. */
function listNeeded(entry: ChangeLogEntry): readonly (string | null)[] {
  switch (entry.type) {
    case "change":
      // An undo that was interrupted may have saved the content after the change.
      return [entry.before, entry.after];
    case "undone":
      return entry.changes.map(({ after }) => after);
    case "untracked":
    case "undo_start":
    case "redone":
      return [];
  }
}
