/**
 * The tree of a session's entries.
 *
 * @module
 */

import type { EntryOutline } from "../../core/sessions/session_entry.ts";

/** A repair made by {@linkcode SessionTree.addRepaired}. */
export type TreeRepair = "lost_parent" | "duplicate_id";

/** Position of a missing entry, such as the parent of a root. */
const NOT_FOUND = -1;

/** A tree of entries. The entry that was added last is the leaf. */
export class SessionTree {
  readonly #nodes: EntryOutline[] = [];
  readonly #parents: number[] = [];
  /** Positions by id of the first `#indexedCount` entries. */
  readonly #positions = new Map<string, number>();
  #indexedCount = 0;
  /** The last number that made a duplicate id unique, by that id. */
  readonly #lastNumbers = new Map<string, number>();

  /** All entries, oldest first. */
  get nodes(): readonly EntryOutline[] {
    return this.#nodes;
  }

  /** Id of the leaf, which is the parent of the next entry; `null` if there is none. */
  get leafId(): string | null {
    return this.#nodes.at(-1)?.id ?? null;
  }

  /** Whether an entry with this id exists. */
  has(id: string): boolean {
    return this.#updateIndex().has(id);
  }

  /** Returns the position of an entry, 0 for the oldest; -1 if there is no entry with this id. */
  findPosition(id: string | null): number {
    if (id === null) return NOT_FOUND;
    // Most lookups are for the last entry.
    if (this.#nodes.at(-1)?.id === id) return this.#nodes.length - 1;
    return this.#updateIndex().get(id) ?? NOT_FOUND;
  }

  /** Adds an entry with an unused id and an existing parent. */
  add(node: EntryOutline): void {
    this.#parents.push(this.findPosition(node.parentId));
    this.#nodes.push(node);
  }

  /**
   * Adds an entry from a log. An entry with a missing parent becomes a child of the entry before it; an entry with
   * a used id gets a new one. Parents precede their children, so there are no cycles.
   */
  addRepaired(
    node: EntryOutline,
  ): { readonly node: EntryOutline; readonly repairs: readonly TreeRepair[] } {
    const isLost = node.parentId !== null && this.findPosition(node.parentId) === NOT_FOUND;
    const isTaken = this.has(node.id);
    if (!isLost && !isTaken) {
      this.add(node);
      return { node, repairs: NO_REPAIRS };
    }
    const parentId = isLost ? this.leafId : node.parentId;
    const repaired = { ...node, parentId, id: isTaken ? this.#createUniqueId(node.id) : node.id };
    this.add(repaired);
    return { node: repaired, repairs: listRepairs(isLost, isTaken) };
  }

  /** Removes the entry at a position and all later ones. */
  truncate(position: number): void {
    for (const { id } of this.#nodes.splice(position)) this.#positions.delete(id);
    this.#parents.length = this.#nodes.length;
    this.#indexedCount = Math.min(this.#indexedCount, this.#nodes.length);
  }

  /** Returns the positions of the entries from the root to an entry, in ascending order. */
  pathTo(leafId: string | null): number[] {
    const path: number[] = [];
    let position = this.findPosition(leafId);
    while (position >= 0) {
      path.push(position);
      position = this.#parents[position] ?? NOT_FOUND;
    }
    return path.reverse();
  }

  /** Indexes the entries that were added since the last lookup; lazily, since reading a log in order needs no index. */
  #updateIndex(): ReadonlyMap<string, number> {
    for (; this.#indexedCount < this.#nodes.length; this.#indexedCount++) {
      const node = this.#nodes[this.#indexedCount];
      if (node) this.#positions.set(node.id, this.#indexedCount);
    }
    return this.#positions;
  }

  #createUniqueId(id: string): string {
    let number = this.#lastNumbers.get(id) ?? 1;
    do number++; while (this.has(`${id}~${number}`));
    this.#lastNumbers.set(id, number);
    return `${id}~${number}`;
  }
}

const NO_REPAIRS: readonly TreeRepair[] = [];

function listRepairs(isLost: boolean, isTaken: boolean): TreeRepair[] {
  return [
    ...(isLost ? ["lost_parent"] as const : []),
    ...(isTaken ? ["duplicate_id"] as const : []),
  ];
}
