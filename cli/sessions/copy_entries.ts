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
    const { before } = entry;
    if (before !== null && !copied.has(before)) {
      const content = await source.readContent(before);
      if (content) await target.saveContent(before, content);
      copied.add(before);
    }
    await target.append(entry);
  }
}
