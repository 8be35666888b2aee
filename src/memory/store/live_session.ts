/**
 * An open session over any kind of log.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import type { PathOptions, Session, SessionAccess, SessionDamage } from "../../core/session.ts";
import type {
  EntryOutline,
  SessionEntry,
  SessionEntryBody,
  SessionHeader,
} from "../../core/session_entry.ts";
import type { EntryLog } from "./entry_log.ts";
import { toSessionError } from "./session_errors.ts";
import type { SessionTree } from "./session_tree.ts";

/** How many entries are read from the log at a time when all are asked for. */
const READ_BATCH_SIZE = 256;

/** What a {@linkcode LiveSession} is made of. */
export interface LiveSessionOptions {
  /** The header. */
  readonly header: SessionHeader;
  /** Whether it may be written to. */
  readonly access: SessionAccess;
  /** The shape of what the log holds. */
  readonly tree: SessionTree;
  /** What was found broken in it. */
  readonly damage?: readonly SessionDamage[];
  /** Entries that were read already, each at the position it has in the tree. */
  readonly loadedEntries?: readonly (SessionEntry | undefined)[];
  /** Where entries are kept. */
  readonly log: EntryLog;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes ids for entries. */
  readonly newId: () => string;
}

/** An open session: entries in memory at once, in the log soon after. */
export class LiveSession implements Session {
  readonly header: SessionHeader;
  readonly access: SessionAccess;
  readonly damage: readonly SessionDamage[];
  readonly #options: LiveSessionOptions;
  readonly #tree: SessionTree;
  readonly #loadedEntries: (SessionEntry | undefined)[];
  #pendingEntries: SessionEntry[] = [];
  #pendingWrite: Promise<void> | undefined;
  #failure: SessionError | undefined;
  #closing: Promise<void> | undefined;

  /** Opens a session over a log. */
  constructor(parts: LiveSessionOptions) {
    this.header = parts.header;
    this.access = parts.access;
    this.damage = parts.damage ?? [];
    this.#options = parts;
    this.#tree = parts.tree;
    this.#loadedEntries = [...parts.loadedEntries ?? []];
  }

  get id(): string {
    return this.header.id;
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
    const wanted = this.#tree.pathTo(leaf).filter((position) => {
      const node = this.#tree.nodes[position];
      return node && (types === undefined || types.includes(node.type)) &&
        (after === undefined || node.timestamp >= after);
    });
    const from = last === undefined ? 0 : Math.max(0, wanted.length - last);
    return await this.#load(wanted.slice(from));
  }

  async entry(id: string): Promise<SessionEntry | undefined> {
    const position = this.#tree.findPosition(id);
    return position < 0 ? undefined : (await this.#load([position]))[0];
  }

  async *entries(): AsyncIterable<SessionEntry> {
    for (let from = 0; from < this.outline.length; from += READ_BATCH_SIZE) {
      const length = Math.min(READ_BATCH_SIZE, this.outline.length - from);
      const positions = Array.from({ length }, (_, at) => from + at);
      yield* await this.#load(positions, { keep: false });
    }
  }

  async flush(): Promise<void> {
    if (!this.#closing) await this.#flush();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #flush(): Promise<void> {
    while (this.#pendingEntries.length > 0 || this.#pendingWrite) {
      await (this.#pendingWrite ?? this.#write());
    }
    this.#throwFailure();
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
    const entry: SessionEntry = { ...body, id, parentId, timestamp };
    this.#loadedEntries[this.outline.length] = entry;
    this.#tree.add({ type: body.type, id, parentId, timestamp });
    this.#pendingEntries.push(entry);
    // One step later, so that entries of the same moment go out in one write.
    if (!this.#pendingWrite && this.#pendingEntries.length === 1) {
      queueMicrotask(() => this.#write());
    }
    return entry;
  }

  #write(): Promise<void> {
    this.#pendingWrite ??= this.#writeAll().finally(() => this.#pendingWrite = undefined);
    return this.#pendingWrite;
  }

  async #writeAll(): Promise<void> {
    while (this.#pendingEntries.length > 0) {
      const entries = this.#pendingEntries;
      this.#pendingEntries = [];
      const { kept, error } = await this.#options.log.append(entries);
      if (kept < entries.length) {
        this.#rollBack([...entries.slice(kept), ...this.#pendingEntries], error);
      }
    }
  }

  /** Forgets what is not in the log, so that memory and log say the same. */
  #rollBack(lost: readonly SessionEntry[], error: unknown): void {
    const [first] = lost;
    if (first) this.#tree.truncate(this.#tree.findPosition(first.id));
    this.#loadedEntries.length = Math.min(this.#loadedEntries.length, this.outline.length);
    this.#pendingEntries = [];
    this.#failure = this.#toWriteError(error, lost.length);
  }

  async #load(
    positions: readonly number[],
    { keep = true }: { readonly keep?: boolean } = {},
  ): Promise<SessionEntry[]> {
    const read = await this.#readMissing(positions);
    const entries: SessionEntry[] = [];
    let next = 0;
    for (const position of positions) {
      const known = this.#loadedEntries[position];
      const entry = known ?? read[next++];
      const node = this.outline[position];
      if (!entry || !node) continue;
      const placed = known ?? withTreePosition(entry, node);
      if (keep) this.#loadedEntries[position] = placed;
      entries.push(placed);
    }
    return entries;
  }

  /** Reads the entries that are not known, in their order. */
  async #readMissing(
    positions: readonly number[],
  ): Promise<readonly (SessionEntry | undefined)[]> {
    const missing = positions.filter((position) => !this.#loadedEntries[position]);
    if (missing.length === 0) return [];
    try {
      return await this.#options.log.read(missing);
    } catch (error) {
      throw toSessionError(error, { id: this.id, reason: "read_failed" });
    }
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
    while (this.#tree.has(id)) id = this.#options.newId();
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
      throw new SessionError(`The session "${this.id}" is closed: open it again to write to it`, {
        reason: "closed",
      });
    }
    if (this.access === "read") {
      throw new SessionError(
        `The session "${this.id}" is open for reading only: open it for writing, or fork it`,
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
    const note = lost === 0 ? "" : `; ${lost} of its entries were not kept`;
    return toSessionError(error, { id: this.id, reason: "write_failed", note });
  }
}

/** Puts entries of another session into a tree; where the tree must mend one, it gets another place. */
export function addEntries(
  tree: SessionTree,
  entries: readonly SessionEntry[],
): readonly SessionEntry[] {
  return entries.map((entry) => {
    const { type, id, parentId, timestamp } = entry;
    return withTreePosition(entry, tree.addRepaired({ type, id, parentId, timestamp }).node);
  });
}

/** The entry with the place that the tree gives it, which is another only where the log was broken. */
function withTreePosition(entry: SessionEntry, { id, parentId }: EntryOutline): SessionEntry {
  return entry.id === id && entry.parentId === parentId ? entry : { ...entry, id, parentId };
}
