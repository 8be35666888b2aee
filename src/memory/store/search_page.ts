/**
 * Collects the hits of a search.
 *
 * @module
 */

import type { SearchHit, SearchPage } from "../../core/sessions/session.ts";
import { type HitPosition, toPage } from "./session_page.ts";

/** A hit and its position. */
export interface FoundHit extends HitPosition {
  /** The hit. */
  readonly hit: SearchHit;
}

/** Collects the first `limit` hits; stops when the signal is aborted. `snapshotTime` is the time of the first page. */
export async function collectHits(
  hits: AsyncIterable<FoundHit>,
  { limit, snapshotTime, signal }: {
    readonly limit: number;
    readonly snapshotTime: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<SearchPage> {
  const found: FoundHit[] = [];
  if (limit > 0 && !signal?.aborted) {
    for await (const hit of hits) {
      found.push(hit);
      // One more hit than the page has means that another page follows.
      if (found.length > limit || signal?.aborted) break;
    }
  }
  const getPosition = ({ updated, id, position }: FoundHit) => ({ updated, id, position });
  return toPage(found, { limit, snapshotTime, getValue: ({ hit }) => hit, getPosition });
}
