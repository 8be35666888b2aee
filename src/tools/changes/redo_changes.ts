/**
 * Undone changes of files that are made again.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashOrNull } from "../text/content_hash.ts";
import { findMissingParents, listParents, removeDirectories } from "./change_directories.ts";
import {
  type ChangeLogEntry,
  type ChangeLogStore,
  isUndoMark,
  NO_CHANGE,
  type UndoneChange,
} from "./change_log_entry.ts";
import { type ChangeOutcome, MAX_BYTES } from "./change_outcome.ts";
import { mapParallel } from "./map_parallel.ts";

/** A turn with changes that an undo took back. */
export interface UndoneTurn {
  readonly turn: string;
  readonly changes: readonly UndoneChange[];
  /** Canonical paths of the directories that the undo made. */
  readonly madeDirectories: readonly string[];
}

/** Lists the turns with changes that are undone and were not made again, in the order of the undos. */
export function listUndoneTurns(entries: readonly ChangeLogEntry[]): readonly UndoneTurn[] {
  const undone: UndoneTurn[] = [];
  for (const entry of entries) {
    const { turn, redone, madeDirectories = [] } = entry;
    if (isUndoMark(entry)) undone.push({ turn, changes: entry.undone ?? [], madeDirectories });
    if (redone === undefined) continue;
    const paths = new Set(redone);
    // A turn may have been undone again after only some of its changes were made again.
    const index = undone.findLastIndex((other) =>
      other.turn === turn && other.changes.some(({ path }) => paths.has(path))
    );
    const found = undone[index];
    if (!found) continue;
    undone[index] = { ...found, changes: found.changes.filter(({ path }) => !paths.has(path)) };
  }
  return undone.filter(({ changes }) => changes.length > 0);
}

/** Makes the changes of an undone turn again, and records them. Does not touch files that were changed after the undo. */
export async function redoChanges(
  files: SandboxFiles,
  store: ChangeLogStore,
  { turn, changes, madeDirectories }: UndoneTurn,
): Promise<readonly ChangeOutcome[]> {
  const redo = (change: UndoneChange) => redoChange(files, store, { turn, change });
  // A file may take the place of a directory, or files that of a file.
  const removals = changes.filter(({ after }) => after === null);
  const others = changes.filter(({ after }) => after !== null);
  const removed = await mapParallel(removals, redo);
  await removeDirectories(files, [
    ...madeDirectories,
    ...listDirectoriesToReplace(removals, others),
  ]);
  const outcomes = [...removed, ...await mapParallel(others, redo)]
    .toSorted((a, b) => a.path < b.path ? -1 : 1);
  const redone = outcomes.flatMap(({ type, path }) => type === "left" ? [] : path);
  if (redone.length > 0) {
    await store.append({ turn, ...NO_CHANGE, redone });
  }
  return outcomes;
}

/** Lists the directories of removed files in places that other files take. */
function listDirectoriesToReplace(
  removals: readonly UndoneChange[],
  others: readonly UndoneChange[],
): readonly string[] {
  const places = new Set(others.map(({ path }) => path));
  return removals.flatMap(({ path }) => {
    const parents = listParents(path);
    return parents.slice(0, parents.findIndex((parent) => places.has(parent)) + 1);
  });
}

async function redoChange(
  files: SandboxFiles,
  store: ChangeLogStore,
  { turn, change }: { readonly turn: string; readonly change: UndoneChange },
): Promise<ChangeOutcome> {
  const { path, before, after } = change;
  const leave = (reason: string): ChangeOutcome => ({ type: "left", path, reason });
  try {
    const current = await files.readIfExists(path, { maxBytes: MAX_BYTES });
    const hash = await hashOrNull(current ?? null);
    // A redo that was interrupted may have made the change.
    if (hash !== before && hash !== after) return leave("the file was changed after the undo");
    if (await files.resolve(path, "write") !== path) return leave("a link has taken its place");
    const content = after === null ? null : await store.readContent(after);
    if (content === undefined) return leave("the undone content is not in the store");
    const madeDirectories = content ? await findMissingParents(files, path) : [];
    await store.append({
      ...{ turn, path, before, after },
      ...(madeDirectories.length > 0 && { madeDirectories }),
    });
    if (content) await files.write(path, content);
    else await files.remove(path);
    return { type: content ? "restored" : "removed", path };
  } catch (error) {
    return leave(getErrorMessage(error));
  }
}
