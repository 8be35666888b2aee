/**
 * An open session on any kind of log.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type {
  PathOptions,
  Session,
  SessionAccess,
  SessionDamage,
} from "../../core/sessions/session.ts";
import type {
  EntryOutline,
  SessionEntry,
  SessionEntryBody,
  SessionHeader,
} from "../../core/sessions/session_entry.ts";
import { type EncodedEntry, EntryEncoder } from "./entry_encoder.ts";
import type { EntryLog } from "./entry_log.ts";
import { toSessionError } from "./session_errors.ts";
import { createRandomId } from "./session_id.ts";
import type { SessionTree } from "./session_tree.ts";

/** Number of entries that `entries()` reads from the log at a time. */
const READ_BATCH_SIZE = 256;

/** Number of ids in use after which a random one is created instead: a function may always return the same. */
const MAX_ID_ATTEMPTS = 100;

/** Options for {@linkcode LiveSession}. */
export interface LiveSessionOptions {
  /** The header. */
  readonly header: SessionHeader;
  /** Access mode. */
  readonly access: SessionAccess;
  /** The tree of the log's entries. The session adds entries to it. */
  readonly tree: SessionTree;
  /** Damage that was found in the log. Default: none. */
  readonly damage?: readonly SessionDamage[];
  /** Entries that are already loaded, each at its position in the tree. Default: none. */
  readonly loadedEntries?: readonly (SessionEntry | undefined)[];
  /** The log. */
  readonly log: EntryLog;
  /** Encodes the entries. Default: a new one. */
  readonly encoder?: EntryEncoder;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Creates ids for entries. */
  readonly newId: () => string;
}

/** An open session. Entries are in memory immediately and written to the log in the background. */
export class LiveSession implements Session {
  readonly header: SessionHeader;
  readonly access: SessionAccess;
  readonly #options: LiveSessionOptions;
  readonly #damage: SessionDamage[];
  /** Ids of the entries that could not be read, and are in `#damage`. */
  readonly #unreadableIds = new Set<string>();
  readonly #encoder: EntryEncoder;
  readonly #tree: SessionTree;
  readonly #loadedEntries: (SessionEntry | undefined)[];
  #pendingEntries: EncodedEntry[] = [];
  #pendingWrite: Promise<void> | undefined;
  #lastFailure: SessionError | undefined;
  /** The error of the last write that failed, until an append or a flush has thrown it. */
  #failure: SessionError | undefined;
  /** Number of writes that failed. */
  #failureCount = 0;
  #closing: Promise<void> | undefined;

  constructor(options: LiveSessionOptions) {
    this.header = options.header;
    this.access = options.access;
    this.#damage = [...options.damage ?? []];
    this.#options = options;
    this.#encoder = options.encoder ?? new EntryEncoder(options.header.id);
    this.#tree = options.tree;
    this.#loadedEntries = [...options.loadedEntries ?? []];
    if (options.access === "read") return;
    for (const entry of this.#loadedEntries) if (entry) this.#encoder.add(entry);
  }

  get id(): string {
    return this.header.id;
  }

  get damage(): readonly SessionDamage[] {
    return this.#damage;
  }

  /** The error of the last write that failed; `undefined` if none has. */
  get lastFailure(): SessionError | undefined {
    return this.#lastFailure;
  }

  get leafId(): string | null {
    return this.#tree.leafId;
  }

  get outline(): readonly EntryOutline[] {
    return this.#tree.nodes;
  }

  append(body: SessionEntryBody): SessionEntry {
    return this.#append(body, this.leafId);
  }

  moveLeaf(entryId: string | null): SessionEntry {
    if (entryId !== null) this.#assertEntryExists(entryId);
    return this.#append({ type: "leaf_moved", from: this.leafId }, entryId);
  }

  async path(options: PathOptions = {}): Promise<readonly SessionEntry[]> {
    const { leaf = this.leafId, types, after, last } = options;
    if (leaf !== null) this.#assertEntryExists(leaf);
    const positions = this.#tree.pathTo(leaf).filter((position) => {
      const node = this.#tree.nodes[position];
      return node && (types === undefined || types.includes(node.type)) &&
        (after === undefined || node.timestamp >= after);
    });
    const from = last === undefined ? 0 : Math.max(0, positions.length - last);
    return await this.#load(positions.slice(from));
  }

  async entry(id: string): Promise<SessionEntry | undefined> {
    const position = this.#tree.findPosition(id);
    return position < 0 ? undefined : (await this.#load([position]))[0];
  }

  async *entries(): AsyncIterable<SessionEntry> {
    for (let from = 0; from < this.outline.length; from += READ_BATCH_SIZE) {
      const length = Math.min(READ_BATCH_SIZE, this.outline.length - from);
      const positions = Array.from({ length }, (_, index) => from + index);
      yield* await this.#load(positions, { cache: false });
    }
  }

  async flush(): Promise<void> {
    // Closing flushes too, and only its outcome is that of the entries.
    await (this.#closing ?? this.#flush());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #flush(): Promise<void> {
    const failureCount = this.#failureCount;
    while (this.#pendingEntries.length > 0 || this.#pendingWrite) {
      await (this.#pendingWrite ?? this.#write());
    }
    this.#throwFailure();
    // An append or another flush may have thrown it first, and none of them may take lost entries for stored ones.
    if (this.#lastFailure && this.#failureCount > failureCount) throw this.#lastFailure;
    if (this.access === "read") return;
    try {
      await this.#options.log.sync();
    } catch (error) {
      throw this.#toWriteError(error, 0);
    }
  }

  #append(body: SessionEntryBody, parentId: string | null): SessionEntry {
    this.#throwFailure();
    this.#assertWritable();
    const id = this.#createUniqueId();
    const timestamp = this.#options.now();
    const encoded = this.#encoder.encode({ ...body, id, parentId, timestamp });
    const { entry } = encoded;
    this.#loadedEntries[this.outline.length] = entry;
    this.#tree.add({ type: entry.type, id, parentId, timestamp });
    this.#pendingEntries.push(encoded);
    // Deferred, so that entries appended in the same task are written together.
    if (!this.#pendingWrite && this.#pendingEntries.length === 1) {
      queueMicrotask(() => this.#write());
    }
    return entry;
  }

  #write(): Promise<void> {
    if (this.#pendingEntries.length === 0) return this.#pendingWrite ?? Promise.resolve();
    this.#pendingWrite ??= this.#writeAll();
    return this.#pendingWrite;
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#pendingEntries.length > 0) {
        const entries = this.#pendingEntries;
        this.#pendingEntries = [];
        const { kept, error } = await this.#options.log.append(entries);
        if (kept < entries.length) {
          this.#rollBack([...entries.slice(kept), ...this.#pendingEntries], error);
        }
      }
    } finally {
      // At once: an entry that is appended after the last check begins the next write.
      this.#pendingWrite = undefined;
    }
  }

  /** Removes the entries that are not in the log, so that memory and log agree. */
  #rollBack(lost: readonly EncodedEntry[], error: unknown): void {
    const [first] = lost;
    if (first) this.#tree.truncate(this.#tree.findPosition(first.entry.id));
    this.#encoder.forget(lost);
    this.#loadedEntries.length = Math.min(this.#loadedEntries.length, this.outline.length);
    this.#pendingEntries = [];
    this.#failureCount++;
    this.#lastFailure = this.#failure = this.#toWriteError(error, lost.length);
  }

  async #load(
    positions: readonly number[],
    { cache = true }: { readonly cache?: boolean } = {},
  ): Promise<SessionEntry[]> {
    const nodes = positions.map((position) => this.outline[position]);
    const read = await this.#read(positions);
    const entries: SessionEntry[] = [];
    for (const [index, position] of positions.entries()) {
      const node = nodes[index];
      // After a write that failed meanwhile, the position may be that of a later entry.
      if (!node || node !== this.outline[position]) continue;
      // Another call may have loaded the entry meanwhile.
      const loaded = this.#loadedEntries[position];
      const entry = loaded ?? read[index];
      if (!entry || !belongsToNode(entry, node)) {
        this.#reportUnreadable(position, node);
        continue;
      }
      const positioned = loaded ?? withTreePosition(entry, node);
      if (cache) this.#loadedEntries[position] = positioned;
      if (cache && !loaded && this.access === "write") this.#encoder.add(positioned);
      entries.push(positioned);
    }
    return entries;
  }

  /** Returns the entries at positions, of which those that are not loaded are read from the log. */
  async #read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const loaded = positions.map((position) => this.#loadedEntries[position]);
    const missing = positions.filter((_, index) => !loaded[index]);
    if (missing.length === 0) return loaded;
    try {
      const read = await this.#options.log.read(missing);
      let next = 0;
      return loaded.map((entry) => entry ?? read[next++]);
    } catch (error) {
      throw toSessionError(error, { id: this.id, reason: "read_failed" });
    }
  }

  /** Reports an entry that the tree has and the log no longer. */
  #reportUnreadable(position: number, { id: entryId }: EntryOutline): void {
    if (this.#unreadableIds.has(entryId)) return;
    this.#unreadableIds.add(entryId);
    this.#damage.push({ type: "broken_entry", ...this.#options.log.locate(position), entryId });
  }

  async #close(): Promise<void> {
    try {
      await this.#flush();
    } finally {
      await this.#options.log.close();
    }
  }

  #createUniqueId(): string {
    let id = this.#options.newId();
    for (let attempt = 1; this.#tree.has(id); attempt++) {
      id = attempt < MAX_ID_ATTEMPTS ? this.#options.newId() : createRandomId();
    }
    return id;
  }

  #assertEntryExists(entryId: string): void {
    if (this.#tree.has(entryId)) return;
    throw new SessionError(`The session "${this.id}" has no entry "${entryId}"`, {
      reason: "unknown_entry",
    });
  }

  #assertWritable(): void {
    if (this.#closing) {
      throw new SessionError(
        `Cannot write to the session "${this.id}": it is closed: open it again`,
        { reason: "closed" },
      );
    }
    if (this.access === "read") {
      throw new SessionError(
        `Cannot write to the session "${this.id}": it is open for reading only: open it for writing, or fork it`,
        { reason: "read_only" },
      );
    }
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure;
  }

  #toWriteError(error: unknown, lost: number): SessionError {
    const note = lost === 0
      ? ""
      : `; ${lost} of its entries ${lost === 1 ? "was" : "were"} not stored`;
    return toSessionError(error, { id: this.id, reason: "write_failed", note });
  }
}

/** Adds entries of another session to a tree; returns them with the ids and parents that the tree assigned. */
export function addEntries(
  tree: SessionTree,
  encoder: EntryEncoder,
  entries: readonly SessionEntry[],
): readonly EncodedEntry[] {
  return entries.map((entry) => {
    const { type, id, parentId, timestamp } = entry;
    const { node } = tree.addRepaired({ type, id, parentId, timestamp });
    return encoder.encode(withTreePosition(entry, node));
  });
}

/** Whether an entry that was read is that of a tree node, whose id has a number if the log has it twice. */
function belongsToNode(entry: SessionEntry, { id }: EntryOutline): boolean {
  return entry.id === id || id.startsWith(`${entry.id}~`);
}

/** Returns an entry with the id and parent of its tree node, which differ only where the log was damaged. */
function withTreePosition(entry: SessionEntry, { id, parentId }: EntryOutline): SessionEntry {
  return entry.id === id && entry.parentId === parentId ? entry : { ...entry, id, parentId };
}
