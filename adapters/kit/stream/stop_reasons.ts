/**
 * Stop reasons of providers.
 *
 * @module
 */

import type { WarningSink } from "../request/warnings.ts";

/** The stop reasons of a provider by the ending of a reply that they report, such as `truncated`. */
export type StopReasons<Ending extends string> = Readonly<Record<Ending, readonly string[]>>;

/** Returns the ending that a stop reason reports, in any case, and `undefined` for an unknown reason. */
export function findEnding<Ending extends string>(
  reasons: StopReasons<Ending>,
  reason: string,
): Ending | undefined {
  const name = reason.toLowerCase();
  for (const ending in reasons) {
    if (reasons[ending].some((known) => known.toLowerCase() === name)) return ending;
  }
  return undefined;
}

/** Reports a stop reason that the reader does not know. */
export function warnUnknownStopReason(reason: string, sink: WarningSink): void {
  sink.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
}
