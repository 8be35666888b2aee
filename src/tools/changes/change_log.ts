/**
 * What files were before each change that a tool made, so that a turn can be undone, with git or without.
 *
 * Contents are kept once, by their hash; changes are kept in order, with the turn they belong to.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import { hashContent } from "../text/content_hash.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** One change of one file, with the hashes of its contents; `null` stands for no file. */
export interface ChangeLogEntry {
  /** The turn in which it was made. */
  readonly turn: string;
  /** Canonical path. */
  readonly path: string;
  /** What the file was. */
  readonly before: string | null;
  /** What it became. */
  readonly after: string | null;
}

/** Where a journal is kept. */
export interface ChangeLogStore {
  /** Keeps a content under its hash; keeping it twice is keeping it once. */
  saveContent(hash: string, content: Uint8Array): Promise<void>;
  /** The content of a hash. */
  readContent(hash: string): Promise<Uint8Array | undefined>;
  /** Adds an entry at the end. */
  append(entry: ChangeLogEntry): Promise<void>;
  /** All entries in order. */
  entries(): Promise<readonly ChangeLogEntry[]>;
}

/** What undoing a turn did. */
export interface UndoReport {
  /** The turn; `undefined` when there was none to undo. */
  readonly turn: string | undefined;
  /** Files that are again what they were before it. */
  readonly restored: readonly string[];
  /** Files that were made in it and are gone. */
  readonly removed: readonly string[];
  /** Files that something else changed since, or that could not be written, and why; they were left alone. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** Keeps what files were before each change. */
export class ChangeLog {
  readonly #store: ChangeLogStore;
  #turn = "1";

  /** Makes a journal. Default: in memory, for as long as the program runs. */
  constructor(store: ChangeLogStore = new MemoryChangeLogStore()) {
    this.#store = store;
  }

  /** Changes from now on belong to this turn. Ids must differ from turn to turn. */
  beginTurn(id: string): void {
    this.#turn = id;
  }

  /** Notes a change that is about to be made; `null` stands for no file. */
  async record(
    path: string,
    before: Uint8Array | null,
    after: Uint8Array | null,
  ): Promise<void> {
    const [hashBefore, hashAfter] = await Promise.all([hashOrNull(before), hashOrNull(after)]);
    if (hashBefore === hashAfter) return;
    if (before && hashBefore) await this.#store.saveContent(hashBefore, before);
    await this.#store.append({ turn: this.#turn, path, before: hashBefore, after: hashAfter });
  }

  /** The turns that changed files and are not undone, oldest first. */
  async turns(): Promise<string[]> {
    return [...new Set((await this.#readActiveEntries()).map(({ turn }) => turn))];
  }

  /**
   * Undoes the file changes of a turn. A file that something else changed since is left alone.
   *
   * @param turn Default: the last one that changed files.
   */
  async undoTurn(files: SandboxFiles, turn?: string): Promise<UndoReport> {
    const standing = await this.#readActiveEntries();
    const chosen = turn ?? standing.at(-1)?.turn;
    const undone: NetChange[] = [...getNetChanges(standing, chosen).values()];
    const outcomes = await mapParallel(undone, (change) => this.#undo(files, change));
    if (chosen !== undefined && undone.length > 0) {
      await this.#store.append(createUndoMarker(chosen));
    }
    const pathsOf = (type: UndoOutcome["type"]) =>
      outcomes.filter((outcome) => outcome.type === type).map(({ path }) =>
        files.toDisplayPath(path)
      );
    return {
      turn: undone.length === 0 ? undefined : chosen,
      restored: pathsOf("restored"),
      removed: pathsOf("removed"),
      left: outcomes.flatMap((outcome) =>
        outcome.type === "left"
          ? [{ path: files.toDisplayPath(outcome.path), reason: outcome.reason }]
          : []
      ),
    };
  }

  async #undo(files: SandboxFiles, change: NetChange): Promise<UndoOutcome> {
    const { path, before, after } = change;
    try {
      const actual = await files.readIfExists(path, { maxBytes: MAX_BYTES });
      if (await hashOrNull(actual ?? null) !== after) {
        return { type: "left", path, reason: "it was changed by something else since" };
      }
      if (before === null) {
        await files.remove(path);
        return { type: "removed", path };
      }
      const content = await this.#store.readContent(before);
      if (!content) return { type: "left", path, reason: "its earlier content was not kept" };
      await files.write(path, content);
      return { type: "restored", path };
    } catch (error) {
      return { type: "left", path, reason: getErrorMessage(error) };
    }
  }

  /** Entries of turns that have not been undone. A turn that goes on after its undoing begins anew. */
  async #readActiveEntries(): Promise<ChangeLogEntry[]> {
    let standing: ChangeLogEntry[] = [];
    for (const entry of await this.#store.entries()) {
      if (entry.path === UNDONE_PATH) standing = standing.filter(({ turn }) => turn !== entry.turn);
      else standing.push(entry);
    }
    return standing;
  }
}

/** Undoes the file changes of a turn; see {@linkcode ChangeLog.undoTurn}. */
export function undoTurn(
  journal: ChangeLog,
  options: { readonly files: SandboxFiles; readonly turn?: string },
): Promise<UndoReport> {
  return journal.undoTurn(options.files, options.turn);
}

/** Files larger than this are not written by tools, so there is nothing to undo. */
const MAX_BYTES = 100_000_000;

/** The path of an entry that says a turn was undone: no file has it. */
const UNDONE_PATH = "";

function createUndoMarker(turn: string): ChangeLogEntry {
  return { turn, path: UNDONE_PATH, before: null, after: null };
}

interface NetChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

type UndoOutcome =
  | { readonly type: "restored" | "removed"; readonly path: string }
  | { readonly type: "left"; readonly path: string; readonly reason: string };

/** From what each file was at the beginning of a turn to what it was at its end. */
function getNetChanges(
  entries: readonly ChangeLogEntry[],
  turn: string | undefined,
): Map<string, NetChange> {
  const changes = new Map<string, NetChange>();
  for (const { path, before, after } of entries.filter((entry) => entry.turn === turn)) {
    changes.set(path, { path, before: changes.get(path)?.before ?? before, after });
  }
  return changes;
}

/** Undoing many files waits for the disk most of the time. */
const MAX_PARALLEL = 16;

async function mapParallel<T, R>(
  values: readonly T[],
  run: (value: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < values.length; index = next++) {
      results[index] = await run(values[index] as T);
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
  return results;
}

async function hashOrNull(content: Uint8Array | null): Promise<string | null> {
  return content === null ? null : await hashContent(content);
}

/** A journal that ends with the program. */
export class MemoryChangeLogStore implements ChangeLogStore {
  readonly #contents = new Map<string, Uint8Array>();
  readonly #entries: ChangeLogEntry[] = [];

  /** Keeps a content. */
  saveContent(hash: string, content: Uint8Array): Promise<void> {
    this.#contents.set(hash, content);
    return Promise.resolve();
  }

  /** Fetches a content. */
  readContent(hash: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#contents.get(hash));
  }

  /** Adds an entry. */
  append(entry: ChangeLogEntry): Promise<void> {
    this.#entries.push(entry);
    return Promise.resolve();
  }

  /** Gives all entries. */
  entries(): Promise<readonly ChangeLogEntry[]> {
    return Promise.resolve(this.#entries);
  }
}
