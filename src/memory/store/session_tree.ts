/**
 * The shape of a session: which entry hangs on which.
 *
 * @module
 */

import type { EntryOutline } from "../../core/session_entry.ts";

/** What {@linkcode SessionTree.add} had to mend. */
export type TreeRepair = "lost_parent" | "duplicate_id";

/** Where the parent of a root stands. */
const NOT_FOUND = -1;

/** A tree of entries that only grows. The entry that was added last is the leaf. */
export class SessionTree {
  readonly #nodes: EntryOutline[] = [];
  readonly #parents: number[] = [];
  /** Positions by id, of as many entries as were ever looked up. */
  readonly #positions = new Map<string, number>();
  #indexedCount = 0;

  /** All entries, oldest first. */
  get nodes(): readonly EntryOutline[] {
    return this.#nodes;
  }

  /** The entry that the next one hangs on. */
  get leafId(): string | null {
    return this.#nodes.at(-1)?.id ?? null;
  }

  /** Whether there is an entry of this id. */
  has(id: string): boolean {
    return this.#updateIndex().has(id);
  }

  /** Where an entry stands among all, the oldest at 0; -1 when there is none of this id. */
  findPosition(id: string | null): number {
    if (id === null) return NOT_FOUND;
    // Most often it is the last one that is asked for.
    if (this.#nodes.at(-1)?.id === id) return this.#nodes.length - 1;
    return this.#updateIndex().get(id) ?? NOT_FOUND;
  }

  /** Adds an entry whose id is free and whose parent is there. */
  add(node: EntryOutline): void {
    this.#parents.push(this.findPosition(node.parentId));
    this.#nodes.push(node);
  }

  /**
   * Adds an entry as it was read. One whose parent is gone hangs on the one before it; one whose id is taken
   * gets another. Since a parent must stand before its child, there are no circles.
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
    const adopted = { ...node, parentId, id: isTaken ? this.#createUniqueId(node.id) : node.id };
    this.add(adopted);
    return { node: adopted, repairs: listRepairs(isLost, isTaken) };
  }

  /** Forgets all entries from a position on. */
  truncate(position: number): void {
    for (const { id } of this.#nodes.splice(position)) this.#positions.delete(id);
    this.#parents.length = this.#nodes.length;
    this.#indexedCount = Math.min(this.#indexedCount, this.#nodes.length);
  }

  /** The positions of the entries from the root to an entry, which is also their order in time. */
  pathTo(leafId: string | null): number[] {
    const path: number[] = [];
    for (let at = this.findPosition(leafId); at >= 0; at = this.#parents[at] ?? NOT_FOUND) {
      path.push(at);
    }
    return path.reverse();
  }

  /** A long log that is only read from root to leaf never needs it. */
  #updateIndex(): ReadonlyMap<string, number> {
    for (; this.#indexedCount < this.#nodes.length; this.#indexedCount++) {
      const node = this.#nodes[this.#indexedCount];
      if (node) this.#positions.set(node.id, this.#indexedCount);
    }
    return this.#positions;
  }

  #createUniqueId(id: string): string {
    let number = 2;
    while (this.has(`${id}~${number}`)) number++;
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
