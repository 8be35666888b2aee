/**
 * The change log of files: records each change that a tool makes, so that a turn can be undone without git.
 *
 * A store holds each content once, by its hash, and the changes in order, each with its turn.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import { isWithin } from "../files/file_rules.ts";
import { hashOrNull } from "../text/content_hash.ts";
import { listMissingParents, removeDirectories } from "./change_directories.ts";
import {
  type ChangeLogEntry,
  type ChangeLogStore,
  isChange,
  isUndoMark,
  NO_CHANGE,
  type UndoneChange,
} from "./change_log_entry.ts";
import { type ChangeOutcome, MAX_BYTES, reportOutcomes } from "./change_outcome.ts";
import { mapParallel } from "./map_parallel.ts";
import { listUndoneTurns, redoChanges, type UndoneTurn } from "./redo_changes.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** Options for {@linkcode ChangeLog.record}. */
export interface RecordOptions {
  /** Canonical paths of the directories that are made for the file, the deepest first. Default: none. */
  readonly madeDirectories?: readonly string[] | undefined;
}

/** Result of {@linkcode ChangeLog.undoTurn}. Paths are relative to the working directory if inside of it. */
export interface UndoReport {
  /** The undone turn; `undefined` when it changed no files. */
  readonly turn: string | undefined;
  /** Files whose earlier content was restored. */
  readonly restored: readonly string[];
  /** Files that the turn had created and that were removed. */
  readonly removed: readonly string[];
  /** Files that were not touched, because they were changed after the turn or could not be written. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  /** Directories that the turn had made and that were removed, because they are empty. */
  readonly removedDirectories: readonly string[];
  /**
   * Reasons why changes of the turn may remain, such as files that are too large to be recorded. Of the last turn also those
   * of later ones, which changed no other files.
   */
  readonly untracked: readonly string[];
}

/** Result of {@linkcode ChangeLog.redoTurn}. Paths are relative to the working directory if inside of it. */
export interface RedoReport {
  /** The turn whose changes were made again; `undefined` when there were none. */
  readonly turn: string | undefined;
  /** Files that have the content of the turn again. */
  readonly restored: readonly string[];
  /** Files that the turn had removed and that were removed again. */
  readonly removed: readonly string[];
  /** Files that were not touched, because they were changed after the undo or could not be written. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** Records file changes by turn, undoes them, and makes undone ones again. */
export class ChangeLog {
  readonly #store: ChangeLogStore;
  /** Turns and reasons that are noted. */
  readonly #noted = new Set<string>();
  /** Entries with reasons that could not be stored. */
  #unsaved: ChangeLogEntry[] = [];
  #turn = "1";

  /** Creates a change log. Default store: {@linkcode MemoryChangeLogStore}. */
  constructor(store: ChangeLogStore = new MemoryChangeLogStore()) {
    this.#store = store;
  }

  /** Starts a turn: later changes are recorded under its id, which must be unique. Before the first call the id is `"1"`. */
  beginTurn(id: string): void {
    this.#turn = id;
  }

  /** Records a change that is about to be made; `null` if the file does not exist before or after it. */
  async record(
    path: string,
    before: Uint8Array | null,
    after: Uint8Array | null,
    { madeDirectories = [] }: RecordOptions = {},
  ): Promise<void> {
    const [hashBefore, hashAfter] = await Promise.all([hashOrNull(before), hashOrNull(after)]);
    if (hashBefore === hashAfter) return;
    if (before && hashBefore) await this.#store.saveContent(hashBefore, before);
    await this.#store.append({
      ...{ turn: this.#turn, path, before: hashBefore, after: hashAfter },
      ...(madeDirectories.length > 0 && { madeDirectories }),
    });
  }

  /** Notes a reason why changes of this turn are not recorded. */
  async noteUntracked(reason: string): Promise<void> {
    const key = JSON.stringify([this.#turn, reason]);
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    const entry = { turn: this.#turn, ...NO_CHANGE, reason };
    try {
      await this.#store.append(entry);
    } catch {
      this.#unsaved.push(entry);
    }
  }

  /** Returns the ids of the turns that changed files and are not undone, oldest first. */
  async turns(): Promise<string[]> {
    return listChangedTurns((await this.#readActiveEntries()).filter(isChange));
  }

  /**
   * Undoes the file changes of a turn. Does not touch files that were changed after it.
   *
   * @param files File access of the sandbox in which the changes were made.
   * @param turn Id of the turn. Default: the last one that changed files and is not undone.
   */
  async undoTurn(files: SandboxFiles, turn?: string): Promise<UndoReport> {
    const entries = await this.#readActiveEntries();
    const active = entries.filter(isChange);
    const changed = new Set(listChangedTurns(active));
    const selected = turn ?? active.findLast((entry) => changed.has(entry.turn))?.turn;
    const ofTurn = active.filter((entry) => entry.turn === selected);
    const changes = getNetChanges(ofTurn);
    const made = ofTurn.flatMap(({ madeDirectories = [] }) => madeDirectories);
    // Created files are removed first: a directory may have taken the place of a file, or a file that of one.
    const created = changes.filter(({ before }) => before === null);
    const existing = changes.filter(({ before }) => before !== null);
    const places = new Set(existing.map(({ path }) => path));
    const isInterrupted = entries.some((entry) => entry.turn === selected && entry.isUndoStart);
    const undo = (change: UndoneChange) => this.#undo(files, change, { places, isInterrupted });
    if (selected !== undefined && changes.length > 0) {
      await this.#store.append({ turn: selected, ...NO_CHANGE, isUndoStart: true });
    }
    const removals = await mapParallel(created, undo);
    const directories = await removeDirectories(files, made);
    const missing = await listMissingParents(files, existing);
    const restorations = await mapParallel(existing, undo);
    const lost = existing.filter((_, index) => restorations[index]?.type === "left")
      .map(({ before }) => before);
    const outcomes = [
      ...await mapParallel(created, async ({ after }, index) => {
        const removal = removals[index] as ChangeOutcome;
        return removal.type === "removed" && lost.includes(after)
          ? await this.#keepCopy(files, removal.path, after)
          : removal;
      }),
      ...restorations,
    ];
    const isKept = (directory: string) =>
      outcomes.some(({ type, path }) => type === "left" && isWithin(path, directory));
    const removedDirectories = directories.filter((directory) => !isKept(directory));
    if (selected !== undefined && changes.length > 0) {
      const undone = new Set(outcomes.flatMap(({ type, path }) => type === "left" ? [] : path));
      await this.#markUndone({
        turn: selected,
        changes: changes.filter(({ path }) => undone.has(path)),
        madeDirectories: missing,
      });
    }
    const untracked = turn === undefined
      ? await this.#takeReasonsSince(entries, selected)
      : listReasons(entries.filter((entry) => entry.turn === turn));
    return {
      turn: changes.length === 0 ? undefined : selected,
      ...reportOutcomes(files, outcomes),
      removedDirectories: removedDirectories.map((path) => files.toDisplayPath(path)),
      untracked,
    };
  }

  /**
   * Makes the changes again that the last undo took back; then those of the one before. Does not touch files that were
   * changed after the undo: their changes can be made again later.
   *
   * @param files File access of the sandbox in which the changes were made.
   */
  async redoTurn(files: SandboxFiles): Promise<RedoReport> {
    const left: ChangeOutcome[] = [];
    for (const undone of listUndoneTurns(await this.#store.entries()).toReversed()) {
      const outcomes = await redoChanges(files, this.#store, undone);
      if (outcomes.some(({ type }) => type !== "left")) {
        return { turn: undone.turn, ...reportOutcomes(files, [...left, ...outcomes]) };
      }
      left.push(...outcomes);
    }
    return { turn: undefined, ...reportOutcomes(files, left) };
  }

  /** Returns the reasons of a turn and of later ones, which changed no other files, once. Default: of all turns. */
  async #takeReasonsSince(
    entries: readonly ChangeLogEntry[],
    turn: string | undefined,
  ): Promise<string[]> {
    const start = entries.findLastIndex((entry) => isChange(entry) && entry.turn === turn);
    const noted = entries.filter((entry, index) =>
      entry.reason !== undefined && (index > start || entry.turn === turn)
    );
    for (const id of new Set(noted.map((entry) => entry.turn))) {
      if (id !== turn) await this.#markUndone({ turn: id, changes: [], madeDirectories: [] });
    }
    return listReasons(noted);
  }

  async #markUndone({ turn, changes, madeDirectories }: UndoneTurn): Promise<void> {
    await this.#store.append({ turn, ...NO_CHANGE, undone: changes, madeDirectories });
    for (const key of this.#noted) {
      if (JSON.parse(key)[0] === turn) this.#noted.delete(key);
    }
    this.#unsaved = this.#unsaved.filter((entry) => entry.turn !== turn);
  }

  /** Creates a removed file again: the one with its content from before the turn could not be restored. */
  async #keepCopy(files: SandboxFiles, path: string, hash: string | null): Promise<ChangeOutcome> {
    try {
      const content = hash === null ? undefined : await this.#store.readContent(hash);
      if (content) await files.write(path, content);
      return { type: "left", path, reason: "it has the content of a file that was not restored" };
    } catch (error) {
      return { type: "left", path, reason: `it was removed: ${getErrorMessage(error)}` };
    }
  }

  /**
   * Undoes a change.
   *
   * @param options `places` are the paths at which contents are restored; that behind a link is added. `isInterrupted` is
   * whether another undo of the turn was interrupted, which may have taken the change back.
   */
  async #undo(
    files: SandboxFiles,
    { path, before, after }: UndoneChange,
    { places, isInterrupted }: { readonly places: Set<string>; readonly isInterrupted: boolean },
  ): Promise<ChangeOutcome> {
    try {
      const current = await files.readIfExists(path, { maxBytes: MAX_BYTES });
      const hash = await hashOrNull(current ?? null);
      if (hash !== after && !(isInterrupted && hash === before)) {
        return { type: "left", path, reason: "the file was changed after the turn" };
      }
      const place = await files.resolve(path, "write");
      // A link to a missing file can keep the content, unless another one is restored there.
      if (place !== path && (after !== null || places.has(place))) {
        return { type: "left", path, reason: "a link has taken its place" };
      }
      // For a redo, and because it may be the only copy.
      if (current && after !== null && hash === after) {
        await this.#store.saveContent(after, current);
      }
      if (before === null) {
        await files.remove(path);
        return { type: "removed", path };
      }
      places.add(place);
      const content = await this.#store.readContent(before);
      if (!content) {
        return { type: "left", path, reason: "the earlier content is not in the store" };
      }
      await files.write(path, content);
      return { type: "restored", path };
    } catch (error) {
      return { type: "left", path, reason: getErrorMessage(error) };
    }
  }

  /** Reads the entries that are not undone. A turn that changes files after it was undone has new entries. */
  async #readActiveEntries(): Promise<ChangeLogEntry[]> {
    let active: ChangeLogEntry[] = [];
    for (const entry of await this.#store.entries()) {
      if (isUndoMark(entry)) active = active.filter(({ turn }) => turn !== entry.turn);
      else if (entry.redone === undefined) active.push(entry);
    }
    return [...active, ...this.#unsaved];
  }
}

function listReasons(entries: readonly ChangeLogEntry[]): string[] {
  return [...new Set(entries.flatMap(({ reason }) => reason ?? []))];
}

/** Lists the turns that changed files. */
function listChangedTurns(changes: readonly ChangeLogEntry[]): string[] {
  const byTurn = new Map<string, ChangeLogEntry[]>();
  for (const change of changes) {
    const ofTurn = byTurn.get(change.turn);
    if (ofTurn) ofTurn.push(change);
    else byTurn.set(change.turn, [change]);
  }
  return [...byTurn].flatMap(([turn, ofTurn]) => getNetChanges(ofTurn).length > 0 ? turn : []);
}

/** Combines the changes of each file in one turn, without those that it took back itself, such as of temporary files. */
function getNetChanges(entries: readonly ChangeLogEntry[]): readonly UndoneChange[] {
  const changes = new Map<string, UndoneChange>();
  for (const { path, before, after } of entries) {
    const earlier = changes.get(path);
    changes.set(path, { path, before: earlier ? earlier.before : before, after });
  }
  return [...changes.values()].filter(({ before, after }) => before !== after);
}

/** A change log store in memory. */
export class MemoryChangeLogStore implements ChangeLogStore {
  readonly #contents = new Map<string, Uint8Array>();
  readonly #entries: ChangeLogEntry[] = [];

  /** Saves a content. */
  saveContent(hash: string, content: Uint8Array): Promise<void> {
    this.#contents.set(hash, content);
    return Promise.resolve();
  }

  /** Returns a saved content. */
  readContent(hash: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#contents.get(hash));
  }

  /** Appends an entry. */
  append(entry: ChangeLogEntry): Promise<void> {
    this.#entries.push(entry);
    return Promise.resolve();
  }

  /** Returns all entries. */
  entries(): Promise<readonly ChangeLogEntry[]> {
    return Promise.resolve(this.#entries);
  }
}
