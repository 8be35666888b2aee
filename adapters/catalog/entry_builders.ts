/**
 * Builders for catalog entries.
 *
 * @module
 */

import type { Rates } from "../../src/core/usage.ts";
import type {
  CatalogEntry,
  ThinkingAbility,
  ThinkingEffort,
  ThinkingOff,
} from "./catalog_entry.ts";

/** Fields of an entry that differ from those of its model family. */
export type EntryOverrides = Partial<CatalogEntry> & Pick<CatalogEntry, "rates">;

/** Ability of a model that does not think, or whose thinking cannot be controlled. */
export const NO_THINKING: ThinkingAbility = { type: "none" };

/** Creates the ability to think by effort from a list such as `"low medium high"`. */
export function efforts(names: string, off?: ThinkingOff): ThinkingAbility {
  const list = names.split(" ") as ThinkingEffort[];
  return off === undefined
    ? { type: "effort", efforts: list }
    : { type: "effort", efforts: list, off };
}

/** Creates prices in US dollars per million tokens. */
export function rates(
  input: number,
  output: number,
  cacheRead?: number,
  cacheWrite?: number,
): Rates {
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}
