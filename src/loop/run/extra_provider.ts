/**
 * The provider of the additional fields of requests.
 *
 * @module
 */

import type { ResolvedConfig } from "./config.ts";

/** Returns the provider that gets the `extra` of a run's `streamOptions`. */
export function getExtraProvider({ extraProvider, model }: ResolvedConfig): string {
  return extraProvider ?? model.provider;
}
