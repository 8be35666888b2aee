/**
 * The shape of a session: which entry hangs on which.
 *
 * @module
 */

import type { EntryOutline } from "../core/session_entry.ts";

/** What {@linkcode SessionTree.add} had to mend. */
export type TreeMend = "lost_parent" | "duplicate_id";

/** A tree of entries that only grows. The entry that was added last is the leaf. */
export class SessionTree {
  readonly #nodes: EntryOutline[] = [];
  readonly #positions = new Map<string, number>();

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
    return this.#positions.has(id);
  }

  /** Where an entry stands among all, the oldest at 0; -1 when there is none of this id. */
  positionOf(id: string): number {
    return this.#positions.get(id) ?? -1;
  }

  /** The entry of an id. */
  get(id: string): EntryOutline | undefined {
    return this.#nodes[this.positionOf(id)];
  }

  /** Adds an entry whose id is free and whose parent is there. */
  add(node: EntryOutline): void {
    this.#positions.set(node.id, this.#nodes.length);
    this.#nodes.push(node);
  }

  /**
   * Adds an entry as it was read. One whose parent is gone hangs on the one before it; one whose id is taken
   * gets another. Since a parent must stand before its child, there are no circles.
   */
  adopt(node: EntryOutline): { readonly node: EntryOutline; readonly mends: readonly TreeMend[] } {
    const mends: TreeMend[] = [];
    let { id, parentId } = node;
    if (parentId !== null && !this.has(parentId)) {
      parentId = this.leafId;
      mends.push("lost_parent");
    }
    if (this.has(id)) {
      id = this.#freeId(id);
      mends.push("duplicate_id");
    }
    const adopted = mends.length === 0 ? node : { ...node, id, parentId };
    this.add(adopted);
    return { node: adopted, mends };
  }

  /** Forgets all entries from a position on. */
  cut(position: number): void {
    for (const { id } of this.#nodes.splice(position)) this.#positions.delete(id);
  }

  /** The entries from the root to an entry. */
  pathTo(leafId: string | null): EntryOutline[] {
    const path: EntryOutline[] = [];
    let node = leafId === null ? undefined : this.get(leafId);
    while (node) {
      path.push(node);
      node = node.parentId === null ? undefined : this.get(node.parentId);
    }
    return path.reverse();
  }

  #freeId(id: string): string {
    let number = 2;
    while (this.has(`${id}~${number}`)) number++;
    return `${id}~${number}`;
  }
}
