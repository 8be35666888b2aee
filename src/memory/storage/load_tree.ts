/**
 * Builds the tree of a session from the outline in its storage.
 *
 * @module
 */

import type { SessionDamage } from "../../core/sessions/session.ts";
import { SessionTree } from "../store/session_tree.ts";
import type { StoredSession } from "./entry_storage.ts";

/** The tree of a stored session. */
export interface LoadedTree {
  /** The tree of the entries that can be read. */
  readonly tree: SessionTree;
  /** Position in the storage of each entry of the tree. */
  readonly positions: number[];
  /** Position of the next entry in the storage. */
  readonly nextPosition: number;
  /** Entries that are missing, and repairs of the tree. */
  readonly damage: readonly SessionDamage[];
}

/** Builds the tree of a stored session; an entry that cannot be read is damage. */
export function loadTree({ outline }: Pick<StoredSession, "outline">): LoadedTree {
  const tree = new SessionTree();
  const positions: number[] = [];
  const damage: SessionDamage[] = [];
  for (let offset = 0; offset < outline.length; offset++) {
    const stored = outline[offset];
    if (!stored) {
      damage.push({ type: "broken_entry", offset, length: 0 });
      continue;
    }
    const { node, repairs } = tree.addRepaired(stored);
    positions.push(offset);
    for (const type of repairs) damage.push({ type, offset, length: 0, entryId: node.id });
  }
  return { tree, positions, nextPosition: outline.length, damage };
}
