/**
 * The items of the events of a session.
 *
 * @module
 */

import type { FeedItem } from "./agent_runner.ts";

/** Creates an item with the JSON of a value. */
export function createItem(type: string, value: object): FeedItem {
  return { type, data: JSON.stringify(value) };
}
