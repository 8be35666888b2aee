/**
 * Short ways to say what is known of a model.
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

/** What differs from the usual of a family of models. */
export type EntryOverrides = Partial<CatalogEntry> & Pick<CatalogEntry, "rates">;

/** A model that does not think. */
export const NO_THINKING: ThinkingAbility = { type: "none" };

/** A model that thinks by effort; the words stand with spaces between them. */
export function efforts(words: string, off?: ThinkingOff): ThinkingAbility {
  const list = words.split(" ") as ThinkingEffort[];
  return off === undefined
    ? { type: "effort", efforts: list }
    : { type: "effort", efforts: list, off };
}

/** Prices in US dollars per million tokens. */
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
