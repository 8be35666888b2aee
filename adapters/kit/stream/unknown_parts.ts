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
    this.#warn(`The reply has ${kind} of unknown type: ${describeName(name)}`);
  }

  /** Reports a delta whose block has not started, has ended or is of another type; `name` is the type of the delta. */
  reportOrphanDelta(name: unknown): void {
    this.#warn(`The reply has a delta without its block: ${describeName(name)}`);
  }

  /** Reports an item of the provider whose input was cut off; `name` is the type of the item. */
  reportCutItem(name: unknown): void {
    this.#warn(`The reply has an incomplete item: ${describeName(name)}`);
  }

  /** Reports further replies to the same request, which a caller can ask for in `extra`. */
  reportFurtherReplies(): void {
    const message = "The provider sent several replies; only the first one is read";
    this.#warn(message, "further_replies_left_out");
  }

  #warn(message: string, code = "unknown_part"): void {
    if (this.#reported.has(message) || this.#reported.size >= MAX_WARNINGS) return;
    this.#reported.add(message);
    this.#sink.warning(code, message);
  }
}

function describeName(name: unknown): string {
  const isName = typeof name === "string" && name !== "" && name.length <= MAX_NAME_LENGTH;
  return isName ? name : "(no name)";
}
