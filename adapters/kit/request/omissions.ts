/**
 * Warnings about omitted content.
 *
 * @module
 */

import type { WarningSink } from "./warnings.ts";

/** Counts omitted content by reason, for one warning per reason. */
export class Omissions {
  readonly #byReason = new Map<string, { readonly code: string; count: number }>();

  /** Counts one omission. */
  add(code: string, reason: string): void {
    const entry = this.#byReason.get(reason) ?? { code, count: 0 };
    entry.count++;
    this.#byReason.set(reason, entry);
  }

  /** Adds the warnings to a sink. */
  report(sink: WarningSink): void {
    for (const [reason, { code, count }] of this.#byReason) {
      sink.warning(code, `${reason}: ${count} omitted`);
    }
  }
}
