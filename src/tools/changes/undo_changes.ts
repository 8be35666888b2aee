/**
 * Changes of files that are taken back.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import { isWithin } from "../files/file_rules.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashOrNull } from "../text/content_hash.ts";
import { listMissingParents, removeDirectories } from "./change_directories.ts";
import type { ChangeLogStore, LoggedChange } from "./change_log_entry.ts";
import { type ChangeOutcome, isLeft, MAX_BYTES } from "./change_outcome.ts";
import { mapParallel } from "./map_parallel.ts";

/** The changes of a turn. */
export interface TurnChanges {
  /** The changes, one for each file. */
  readonly changes: readonly LoggedChange[];
  /** Canonical paths of the directories that the turn made. */
  readonly madeDirectories: readonly string[];
  /** Whether another undo of the turn was interrupted, which may have taken back some of the changes. */
  readonly isInterrupted: boolean;
}

/** Changes that were taken back. */
export interface UndoneChanges {
  /** The result for each file. */
  readonly outcomes: readonly ChangeOutcome[];
  /** Canonical paths of the directories of the turn that were removed. */
  readonly removedDirectories: readonly string[];
  /** Canonical paths of the directories that were made. */
  readonly madeDirectories: readonly string[];
}

/** Takes the changes of a turn back. Does not touch files that were changed after it. */
export async function undoChanges(
  files: SandboxFiles,
  store: ChangeLogStore,
  { changes, madeDirectories, isInterrupted }: TurnChanges,
): Promise<UndoneChanges> {
  const created = changes.filter(({ before }) => before === null);
  const existing = changes.filter(({ before }) => before !== null);
  const places = new Set(existing.map(({ path }) => path));
  const undo = (change: LoggedChange) =>
    undoChange(files, store, { change, places, isInterrupted });
  // Created files are removed first: a directory may have taken the place of a file, or a file that of one.
  const removals = await mapParallel(created, undo);
  const removed = await removeDirectories(files, madeDirectories);
  const missing = await listMissingParents(files, existing);
  const restorations = await mapParallel(existing, undo);
  const leftPaths = new Set(restorations.filter(isLeft).map(({ path }) => path));
  const lost = new Set(existing.flatMap(({ path, before }) => leftPaths.has(path) ? before : []));
  const outcomes = [
    ...await mapParallel(removals, (removal, index) => {
      const content = created[index]?.after ?? null;
      return removal.type === "removed" && lost.has(content)
        ? createAgain(files, store, { path: removal.path, content })
        : Promise.resolve(removal);
    }),
    ...restorations,
  ];
  const isKept = (directory: string) =>
    outcomes.some((outcome) => isLeft(outcome) && isWithin(outcome.path, directory));
  return {
    outcomes,
    removedDirectories: removed.filter((directory) => !isKept(directory)),
    madeDirectories: missing,
  };
}

interface ChangeToUndo {
  readonly change: LoggedChange;
  /** Paths at which contents are restored; that behind a link is added. */
  readonly places: Set<string>;
  readonly isInterrupted: boolean;
}

async function undoChange(
  files: SandboxFiles,
  store: ChangeLogStore,
  { change: { path, before, after }, places, isInterrupted }: ChangeToUndo,
): Promise<ChangeOutcome> {
  const leave = (reason: string): ChangeOutcome => ({ type: "left", path, reason });
  try {
    const current = await files.readIfExists(path, { maxBytes: MAX_BYTES });
    const hash = await hashOrNull(current ?? null);
    if (hash !== after && !(isInterrupted && hash === before)) {
      return leave("the file was changed after the turn");
    }
    const place = await files.resolve(path, "write");
    // A link to a missing file can keep the content, unless another one is restored there.
    if (place !== path && (after !== null || places.has(place))) {
      return leave("a link has taken its place");
    }
    // For a redo, and because it may be the only copy.
    if (current && after !== null && hash === after) await store.saveContent(after, current);
    if (before === null) {
      await files.remove(path);
      return { type: "removed", path };
    }
    places.add(place);
    // The undo that was interrupted has restored it.
    if (hash === before) return { type: "restored", path };
    const content = await store.readContent(before);
    if (!content) return leave("the earlier content is not in the store");
    await files.write(path, content);
    return { type: "restored", path };
  } catch (error) {
    return { type: "failed", path, reason: getErrorMessage(error) };
  }
}

/** Creates a removed file again: the one with its content from before the turn could not be restored. */
async function createAgain(
  files: SandboxFiles,
  store: ChangeLogStore,
  { path, content: hash }: { readonly path: string; readonly content: string | null },
): Promise<ChangeOutcome> {
  try {
    const content = hash === null ? undefined : await store.readContent(hash);
    if (content) await files.write(path, content);
    return { type: "left", path, reason: "it has the content of a file that was not restored" };
  } catch (error) {
    return { type: "left", path, reason: `it was removed: ${getErrorMessage(error)}` };
  }
}
