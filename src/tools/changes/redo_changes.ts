/**
 * Undone changes of files that are made again.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashOrNull } from "../text/content_hash.ts";
import { findMissingParents, listParents, removeDirectories } from "./change_directories.ts";
import type {
  ChangeEntry,
  ChangeLogEntry,
  ChangeLogStore,
  LoggedChange,
  RedoneEntry,
  UndoneEntry,
} from "./change_log_entry.ts";
import { type ChangeOutcome, isLeft, MAX_BYTES } from "./change_outcome.ts";
import { mapParallel } from "./map_parallel.ts";

/** An undo with changes that were not made again. */
export interface TurnToRedo extends Pick<UndoneEntry, "turn" | "madeDirectories"> {
  /** The changes, by path. */
  readonly changes: Map<string, ChangeToRedo>;
}

/** A change that was not made again. */
interface ChangeToRedo extends LoggedChange {
  /** Whether a redo that was interrupted may have made the change. */
  readonly wasStarted?: boolean;
}

/** Lists the undos with changes that were not made again, the oldest first. */
export function listTurnsToRedo(entries: readonly ChangeLogEntry[]): readonly TurnToRedo[] {
  const undone: TurnToRedo[] = [];
  for (const entry of entries) {
    switch (entry.type) {
      case "undone": {
        const changes = new Map(entry.changes.map((change) => [change.path, change]));
        undone.push({ ...entry, changes });
        break;
      }
      case "change":
        undone.findLast((other) => hasChange(other, entry))
          ?.changes.set(entry.path, { ...entry, wasStarted: true });
        break;
      case "redone": {
        const redone = undone.findLast((other) => hasStarted(other, entry));
        for (const path of entry.paths) redone?.changes.delete(path);
        break;
      }
      case "untracked":
      case "undo_start":
        break;
    }
  }
  return undone.filter(({ changes }) => changes.size > 0);
}

/** Whether a change is one of those that an undo took back: a redo makes it. */
function hasChange({ turn, changes }: TurnToRedo, entry: ChangeEntry): boolean {
  const change = changes.get(entry.path);
  return turn === entry.turn && change?.before === entry.before && change.after === entry.after;
}

/** Whether a redo is that of an undo. A turn may have been undone again after only some of its changes were made again. */
function hasStarted({ turn, changes }: TurnToRedo, entry: RedoneEntry): boolean {
  return turn === entry.turn && entry.paths.some((path) => changes.get(path)?.wasStarted);
}

/** Makes the changes of an undone turn again, and records them. Does not touch files that were changed after the undo. */
export async function redoChanges(
  files: SandboxFiles,
  store: ChangeLogStore,
  { turn, changes: changesByPath, madeDirectories }: TurnToRedo,
): Promise<readonly ChangeOutcome[]> {
  const changes = [...changesByPath.values()];
  const redo = (change: ChangeToRedo) => redoChange(files, store, { turn, change });
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
  const paths = outcomes.flatMap((outcome) => isLeft(outcome) ? [] : outcome.path);
  if (paths.length > 0) await store.append({ type: "redone", turn, paths });
  return outcomes;
}

/** Lists the directories of removed files in places that other files take. */
function listDirectoriesToReplace(
  removals: readonly LoggedChange[],
  others: readonly LoggedChange[],
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
  { turn, change }: { readonly turn: string; readonly change: ChangeToRedo },
): Promise<ChangeOutcome> {
  const { path, before, after, wasStarted = false } = change;
  const leave = (reason: string): ChangeOutcome => ({ type: "left", path, reason });
  try {
    const current = await files.readIfExists(path, { maxBytes: MAX_BYTES });
    const hash = await hashOrNull(current ?? null);
    if (hash !== before && !(wasStarted && hash === after)) {
      return leave("the file was changed after the undo");
    }
    if (await files.resolve(path, "write") !== path) return leave("a link has taken its place");
    const content = after === null ? null : await store.readContent(after);
    if (content === undefined) return leave("the undone content is not in the store");
    // For an undo, and because it may be the only copy.
    if (current && before !== null && hash === before) await store.saveContent(before, current);
    const madeDirectories = content ? await findMissingParents(files, path) : [];
    const entry: ChangeEntry = { type: "change", turn, path, before, after, madeDirectories };
    await store.append(entry);
    if (hash !== after) await makeLogged(files, store, { entry, content });
    return { type: content ? "restored" : "removed", path };
  } catch (error) {
    return { type: "failed", path, reason: getErrorMessage(error) };
  }
}

/** Makes a change that is logged. One that fails is logged as taken back. */
async function makeLogged(
  files: SandboxFiles,
  store: ChangeLogStore,
  { entry, content }: { readonly entry: ChangeEntry; readonly content: Uint8Array | null },
): Promise<void> {
  const { path, before, after } = entry;
  try {
    if (content) await files.write(path, content);
    else await files.remove(path);
  } catch (error) {
    // The first error is the cause that the user can remove, such as a full disk.
    await store.append({ ...entry, before: after, after: before }).catch(() => {});
    throw error;
  }
}
