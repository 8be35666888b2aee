/**
 * The entries of a log of file changes, for another log.
 *
 * @module
 */

import type { ChangeLogStore } from "../../src/tools/changes/change_log.ts";

/** Appends the entries of a log to another one, with the contents that they need. */
export async function copyEntries(source: ChangeLogStore, target: ChangeLogStore): Promise<void> {
  const copied = new Set<string>();
  for (const entry of await source.entries()) {
    const { before, after, keepsAfter = false } = entry;
    for (const hash of keepsAfter ? [before, after] : [before]) {
      if (hash === null || copied.has(hash)) continue;
      const content = await source.readContent(hash);
      if (content) await target.saveContent(hash, content);
      copied.add(hash);
    }
    await target.append(entry);
  }
}
