/**
 * Warnings about parts of a reply that a reader does not know or cannot assign.
 *
 * @module
 */

import type { WarningSink } from "../request/warnings.ts";

/** Maximum number of warnings for one reply. */
const MAX_WARNINGS = 10;

/** Maximum length of a name in a warning, in characters. */
const MAX_NAME_LENGTH = 100;

/** Reports events and content that cannot be read, each type once. */
export class UnknownParts {
  readonly #sink: WarningSink;
  readonly #reported = new Set<string>();

  /** Creates a reporter for one reply. */
  constructor(sink: WarningSink) {
    this.#sink = sink;
  }

  /** Reports a part of unknown type; `kind` is a noun with an article, such as `an event`, and `name` the type. */
  report(kind: string, name: unknown): void {
    this.#warn(`The reply has ${kind} of unknown type`, name);
  }

  /** Reports a delta whose block has not started, has ended or is of another type; `name` is the type of the delta. */
  reportOrphanDelta(name: unknown): void {
    this.#warn("The reply has a delta without its block", name);
  }

  /** Reports an item of the provider whose input was cut off; `name` is the type of the item. */
  reportCutItem(name: unknown): void {
    this.#warn("The reply has an incomplete item", name);
  }

  #warn(problem: string, name: unknown): void {
    const isName = typeof name === "string" && name !== "" && name.length <= MAX_NAME_LENGTH;
    const message = `${problem}: ${isName ? name : "(no name)"}`;
    if (this.#reported.has(message) || this.#reported.size >= MAX_WARNINGS) return;
    this.#reported.add(message);
    this.#sink.warning("unknown_part", message);
  }
}
