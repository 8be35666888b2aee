/**
 * Changes of files that are taken back.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { isWithin } from "../files/file_rules.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashOrNull } from "../text/content_hash.ts";
import { listMissingParents, removeDirectories } from "./change_directories.ts";
import type { ChangeLogStore } from "./change_log_entry.ts";
import { type ChangeOutcome, isLeft, type LeftOutcome, MAX_BYTES } from "./change_outcome.ts";
import { mapParallel } from "./map_parallel.ts";
import type { NetChange } from "./net_changes.ts";

/** The changes of a turn. */
export interface TurnChanges {
  /** The changes, one for each file. */
  readonly changes: readonly NetChange[];
  /** Canonical paths of the directories that the turn made. */
  readonly madeDirectories: readonly string[];
  /** Whether another undo of the turn was interrupted, which may have taken back some of the changes. */
  readonly isInterrupted: boolean;
}

/** Changes that were taken back. */
export interface UndoneChanges {
  /** The result for each file. */
  readonly outcomes: readonly UndoOutcome[];
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
  const undo = (change: NetChange) => undoChange(files, store, { change, places, isInterrupted });
  // Created files are removed first: a directory may have taken the place of a file, or a file that of one.
  const removals = await mapParallel(created, undo);
  const removed = await removeDirectories(files, madeDirectories);
  const missing = await listMissingParents(files, existing);
  const restorations = await mapParallel(existing, undo);
  const lost = findLost(existing, restorations);
  const outcomes = [
    ...await mapParallel(removals, async (removal): Promise<UndoOutcome> => {
      const { path, replaced: hash } = removal;
      const type = hash ? lost.get(hash) : undefined;
      return hash && type ? await createAgain(files, store, { path, hash, type }) : removal;
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

/** Result of an undo for a file. */
export type UndoOutcome = ChangeOutcome & {
  /** Hash of the content that is no longer in the file, `null` if it did not exist. Not if it was not touched. */
  readonly replaced?: string | null;
};

interface ChangeToUndo {
  readonly change: NetChange;
  /** Paths at which contents are restored; that behind a link is added. */
  readonly places: Set<string>;
  readonly isInterrupted: boolean;
}

async function undoChange(
  files: SandboxFiles,
  store: ChangeLogStore,
  { change: { path, before, beforeLast, after }, places, isInterrupted }: ChangeToUndo,
): Promise<UndoOutcome> {
  const leave = (reason: string): UndoOutcome => ({ type: "left", path, reason });
  try {
    const current = await files.readIfExists(path, { maxBytes: MAX_BYTES });
    const hash = await hashOrNull(current ?? null);
    if (hash === before && !isInterrupted) {
      return { type: "unchanged", path, reason: "it is as it was before the turn" };
    }
    if (![before, beforeLast, after].includes(hash)) {
      return leave("the file was changed after the turn");
    }
    const place = await files.resolve(path, "write");
    // A link to a missing file can keep the content, unless another one is restored there.
    if (place !== path && (after !== null || places.has(place))) {
      return leave("a link has taken its place");
    }
    const replaced = hash === before ? after : hash;
    // For a redo, and because it may be the only copy.
    if (current && hash !== null && hash !== before) await store.saveContent(hash, current);
    if (before === null) {
      await files.remove(path);
      return { type: "removed", path, replaced };
    }
    places.add(place);
    // The undo that was interrupted has restored it.
    if (hash === before) return { type: "restored", path, replaced };
    const content = await store.readContent(before);
    if (!content) return leave("the earlier content is not in the store");
    await files.write(path, content);
    return { type: "restored", path, replaced };
  } catch (error) {
    return { type: "failed", path, reason: getErrorMessage(error) };
  }
}

/** Finds the contents from before the turn that were not restored, with the results of their files. */
function findLost(
  changes: readonly NetChange[],
  outcomes: readonly UndoOutcome[],
): ReadonlyMap<string, LeftOutcome["type"]> {
  const left = new Map(outcomes.filter(isLeft).map(({ path, type }) => [path, type]));
  return new Map(changes.flatMap(({ path, before }) => {
    const type = left.get(path);
    return before !== null && type && type !== "unchanged" ? [[before, type]] : [];
  }));
}

/** A file that was removed, and has the content of one that was not restored. */
interface RemovedCopy {
  readonly path: string;
  readonly hash: string;
  /** Result of the other file. */
  readonly type: LeftOutcome["type"];
}

/** Creates a removed file again: the one with its content from before the turn could not be restored. */
async function createAgain(
  files: SandboxFiles,
  store: ChangeLogStore,
  { path, hash, type }: RemovedCopy,
): Promise<UndoOutcome> {
  try {
    const content = await store.readContent(hash);
    if (content) await files.write(path, content);
    return { type, path, reason: "it has the content of a file that was not restored" };
  } catch (error) {
    const reason = `it was removed: ${getErrorMessage(error)}`;
    return { type: "left", path, reason, replaced: hash };
  }
}
