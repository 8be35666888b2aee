/**
 * The changes of turns, combined for each file.
 *
 * @module
 */

import type { ChangeEntry, LoggedChange } from "./change_log_entry.ts";

/** The changes of a file in one turn. */
export interface NetChange extends LoggedChange {
  /** Content before the last of them, which the file still has if the tool failed to write it. */
  readonly beforeLast: string | null;
}

/** Combines the changes of each file in one turn, without those that it took back itself, such as of temporary files. */
export function getNetChanges(entries: readonly ChangeEntry[]): readonly NetChange[] {
  const changes = new Map<string, NetChange>();
  for (const { path, before, after } of entries) {
    const earlier = changes.get(path) ?? { before };
    changes.set(path, { path, before: earlier.before, beforeLast: before, after });
  }
  return [...changes.values()].filter(({ before, after }) => before !== after);
}

/** Lists the turns that changed files, in the order of their last changes. */
export function listChangedTurns(changes: readonly ChangeEntry[]): string[] {
  const byTurn = new Map<string, ChangeEntry[]>();
  for (const change of changes) addTo(byTurn, change.turn, change);
  const pathsByTurn = new Map(
    [...byTurn].map(([turn, ofTurn]) =>
      [turn, new Set(getNetChanges(ofTurn).map(({ path }) => path))] as const
    ),
  );
  const lastFirst = changes.toReversed()
    .flatMap(({ turn, path }) => pathsByTurn.get(turn)?.has(path) ? turn : []);
  return [...new Set(lastFirst)].toReversed();
}

/** Lists the files that other turns have changed after a turn: these changes have to be undone first. */
export function listChangedLater(
  changes: readonly ChangeEntry[],
  turn: string,
): ReadonlySet<string> {
  const later = new Map<string, ChangeEntry[]>();
  for (const change of changes) {
    if (change.turn === turn) later.delete(change.path);
    else addTo(later, change.path, change);
  }
  return new Set(
    [...later].flatMap(([path, ofPath]) => listChangedTurns(ofPath).length > 0 ? path : []),
  );
}

function addTo(groups: Map<string, ChangeEntry[]>, key: string, change: ChangeEntry): void {
  const group = groups.get(key);
  if (group) group.push(change);
  else groups.set(key, [change]);
}
