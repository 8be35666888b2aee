/**
 * The change log of files: records each change that a tool makes, so that a turn can be undone without git.
 *
 * A store holds each content once, by its hash, and the changes in order, each with its turn.
 *
 * @module
 */

import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashOrNull } from "../text/content_hash.ts";
import {
  type ChangeLogEntry,
  type ChangeLogStore,
  isChange,
  type UndoneEntry,
  type UntrackedEntry,
} from "./change_log_entry.ts";
import { type ChangeOutcome, isLeft, reportOutcomes } from "./change_outcome.ts";
import { getNetChanges, listChangedLater, listChangedTurns } from "./net_changes.ts";
import { listTurnsToRedo, redoChanges } from "./redo_changes.ts";
import { undoChanges, type UndoneChanges, type UndoOutcome } from "./undo_changes.ts";

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
  #unsaved: UntrackedEntry[] = [];
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
      type: "change",
      turn: this.#turn,
      path,
      before: hashBefore,
      after: hashAfter,
      madeDirectories,
    });
  }

  /** Notes a reason why changes of this turn are not recorded. */
  async noteUntracked(reason: string): Promise<void> {
    const key = JSON.stringify([this.#turn, reason]);
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    const entry: UntrackedEntry = { type: "untracked", turn: this.#turn, reason };
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
   * Undoes the file changes of a turn. Does not touch files that were changed after it. Changes that fail, such as when
   * the disk is full, and those of files that a later turn has changed, remain changes of the turn.
   *
   * @param files File access of the sandbox in which the changes were made.
   * @param turn Id of the turn. Default: the last one that changed files and is not undone; if all of its changes fail again,
   * also the one before.
   */
  async undoTurn(files: SandboxFiles, turn?: string): Promise<UndoReport> {
    const entries = await this.#readActiveEntries();
    const changed = new Set(listChangedTurns(entries.filter(isChange)));
    const candidates = turn === undefined ? [...changed].toReversed() : [turn];
    const undone = await this.#undoFirst(files, candidates);
    const selected = undone.turn ?? turn;
    const untracked = turn === undefined
      ? await this.#takeReasonsSince(entries, selected, changed)
      : listReasons(entries.filter((entry) => entry.turn === turn));
    return {
      turn: selected !== undefined && changed.has(selected) ? selected : undefined,
      ...reportOutcomes(files, undone.outcomes),
      removedDirectories: undone.removedDirectories.map((path) => files.toDisplayPath(path)),
      untracked,
    };
  }

  /** Undoes the first of the turns that can be undone: continues with the next one if all changes of a turn fail again. */
  async #undoFirst(files: SandboxFiles, turns: readonly string[]): Promise<UndoneTurn> {
    const outcomes: UndoOutcome[] = [];
    for (const turn of turns) {
      const entries = await this.#readActiveEntries();
      const ofTurn = entries.filter((entry) => entry.turn === turn);
      // A turn that changed no files may have made directories, such as for temporary files.
      if (!ofTurn.some(isChange)) continue;
      const { removedDirectories, ...undone } = await this.#undo(files, turn, entries);
      outcomes.push(...undone.outcomes);
      const hasFailedBefore = ofTurn.some(({ type }) => type === "undone");
      const isLast = turn === turns.at(-1);
      if (isLast || !hasFailedBefore || !undone.outcomes.every(isLeft)) {
        return { turn, outcomes, removedDirectories };
      }
    }
    return { turn: undefined, outcomes, removedDirectories: [] };
  }

  /** Undoes the changes of a turn, and marks it as undone. */
  async #undo(
    files: SandboxFiles,
    turn: string,
    entries: readonly ChangeLogEntry[],
  ): Promise<UndoneChanges> {
    await this.#store.append({ type: "undo_start", turn });
    const ofTurn = entries.filter((entry) => entry.turn === turn);
    const changesOfTurn = ofTurn.filter(isChange);
    const changes = getNetChanges(changesOfTurn);
    const undone = await undoChanges(files, this.#store, {
      changes,
      madeDirectories: changesOfTurn.flatMap(({ madeDirectories }) => madeDirectories),
      isInterrupted: ofTurn.some(({ type }) => type === "undo_start"),
    });
    const changedLater = listChangedLater(entries.filter(isChange), turn);
    const canBeRepeated = (outcome: UndoOutcome) =>
      outcome.type === "failed" || (isLeft(outcome) && changedLater.has(outcome.path));
    const replaced = new Map(undone.outcomes.map((outcome) => [outcome.path, outcome.replaced]));
    await this.#markUndone({
      type: "undone",
      turn,
      changes: changes.flatMap(({ path, before }) => {
        const after = replaced.get(path);
        return after === undefined ? [] : { path, before, after };
      }),
      failed: undone.outcomes.filter(canBeRepeated).map(({ path }) => path),
      madeDirectories: undone.madeDirectories,
    });
    return undone;
  }

  /**
   * Makes the changes again that the last undo took back; then those of the one before. Does not touch files that were
   * changed after the undo: their changes can be made again later.
   *
   * @param files File access of the sandbox in which the changes were made.
   */
  async redoTurn(files: SandboxFiles): Promise<RedoReport> {
    const left: ChangeOutcome[] = [];
    for (const undone of listTurnsToRedo(await this.#store.entries()).toReversed()) {
      const outcomes = await redoChanges(files, this.#store, undone);
      if (!outcomes.every(isLeft)) {
        return { turn: undone.turn, ...reportOutcomes(files, [...left, ...outcomes]) };
      }
      left.push(...outcomes);
    }
    return { turn: undefined, ...reportOutcomes(files, left) };
  }

  /** Returns the reasons of a turn and of later ones, except of `changed` turns, once. Default: of all turns. */
  async #takeReasonsSince(
    entries: readonly ChangeLogEntry[],
    turn: string | undefined,
    changed: ReadonlySet<string>,
  ): Promise<string[]> {
    const start = entries.findLastIndex((entry) => isChange(entry) && entry.turn === turn);
    const noted = entries.filter((entry, index) =>
      entry.type === "untracked" &&
      // A changed turn may have a later reason, such as one that could not be stored. Its changes must remain.
      (entry.turn === turn || (index > start && !changed.has(entry.turn)))
    );
    for (const id of new Set(noted.map((entry) => entry.turn))) {
      if (id === turn) continue;
      const nothing = { changes: [], failed: [], madeDirectories: [] };
      await this.#markUndone({ type: "undone", turn: id, ...nothing });
    }
    return listReasons(noted);
  }

  async #markUndone(entry: UndoneEntry): Promise<void> {
    const { turn } = entry;
    await this.#store.append(entry);
    for (const key of this.#noted) {
      if (JSON.parse(key)[0] === turn) this.#noted.delete(key);
    }
    this.#unsaved = this.#unsaved.filter((unsaved) => unsaved.turn !== turn);
  }

  /** Reads the entries that are not undone. A turn that changes files after it was undone has new entries. */
  async #readActiveEntries(): Promise<ChangeLogEntry[]> {
    let active: ChangeLogEntry[] = [];
    for (const entry of await this.#store.entries()) {
      switch (entry.type) {
        case "change":
        case "untracked":
        case "undo_start":
          active.push(entry);
          break;
        case "undone": {
          const failed = new Set(entry.failed);
          active = active.filter((other) =>
            other.turn !== entry.turn || (isChange(other) && failed.has(other.path))
          );
          if (failed.size > 0) active.push(entry);
          break;
        }
        case "redone":
          // The changes that were made again have entries of their own.
          break;
      }
    }
    return [...active, ...this.#unsaved];
  }
}

/** The turn that was undone, with the results of those before it that failed. */
interface UndoneTurn extends Pick<UndoneChanges, "outcomes" | "removedDirectories"> {
  readonly turn: string | undefined;
}

function listReasons(entries: readonly ChangeLogEntry[]): string[] {
  return [...new Set(entries.flatMap((entry) => entry.type === "untracked" ? entry.reason : []))];
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
