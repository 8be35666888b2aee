/**
 * Undone changes of files that are made again.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import { isWithin } from "../files/file_rules.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashOrNull } from "../text/content_hash.ts";
import { findMissingParents, listParents, removeDirectories } from "./change_directories.ts";
import {
  type ChangeLogEntry,
  type ChangeLogStore,
  isUndoMark,
  NO_PATH,
  type UndoneChange,
} from "./change_log_entry.ts";
import { type ChangeOutcome, MAX_BYTES } from "./change_outcome.ts";
import { mapParallel } from "./map_parallel.ts";

/** A turn with changes that an undo took back. */
export interface UndoneTurn {
  readonly turn: string;
  readonly changes: readonly UndoneChange[];
}

/** Lists the turns with changes that are undone and were not made again, in the order of the undos. */
export function listUndoneTurns(entries: readonly ChangeLogEntry[]): readonly UndoneTurn[] {
  const undone: UndoneTurn[] = [];
  for (const entry of entries) {
    const { turn, redone } = entry;
    if (isUndoMark(entry)) undone.push({ turn, changes: entry.undone ?? [] });
    if (redone === undefined) continue;
    const paths = new Set(redone);
    const index = undone.findLastIndex((other) => other.turn === turn);
    const changes = undone[index]?.changes.filter(({ path }) => !paths.has(path));
    if (changes) undone[index] = { turn, changes };
  }
  return undone.filter(({ changes }) => changes.length > 0);
}

/** Makes the changes of an undone turn again, and records them. Does not touch files that were changed after the undo. */
export async function redoChanges(
  files: SandboxFiles,
  store: ChangeLogStore,
  { turn, changes }: UndoneTurn,
): Promise<readonly ChangeOutcome[]> {
  const redo = (change: UndoneChange) => redoChange(files, store, { turn, change });
  // A file may take the place of a directory, or files that of a file.
  const removals = changes.filter(({ after }) => after === null);
  const others = changes.filter(({ after }) => after !== null);
  const removed = await mapParallel(removals, redo);
  const emptied = removals.flatMap(({ path }) => listParents(path)).filter((directory) =>
    others.some(({ path }) => isWithin(directory, path))
  );
  await removeDirectories(files, emptied);
  const outcomes = [...removed, ...await mapParallel(others, redo)]
    .toSorted((a, b) => a.path < b.path ? -1 : 1);
  const redone = outcomes.flatMap(({ type, path }) => type === "left" ? [] : path);
  if (redone.length > 0) {
    await store.append({ turn, path: NO_PATH, before: null, after: null, redone });
  }
  return outcomes;
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
