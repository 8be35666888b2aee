/**
 * Warnings about parts of a reply that a reader does not know.
 *
 * @module
 */

import type { WarningSink } from "../request/warnings.ts";

/** Maximum number of warnings for one reply. */
const MAX_WARNINGS = 10;

/** Maximum length of a name in a warning, in characters. */
const MAX_NAME_LENGTH = 100;

/** Reports events and content of unknown types, each type once. */
export class UnknownParts {
  readonly #sink: WarningSink;
  readonly #reported = new Set<string>();

  /** Creates a reporter for one reply. */
  constructor(sink: WarningSink) {
    this.#sink = sink;
  }

  /** Reports a part; `kind` is a noun with an article, such as `an event`, and `name` the type of the part. */
  report(kind: string, name: unknown): void {
    const isName = typeof name === "string" && name !== "" && name.length <= MAX_NAME_LENGTH;
    const message = `The reply has ${kind} of unknown type: ${isName ? name : "(no name)"}`;
    if (this.#reported.has(message) || this.#reported.size >= MAX_WARNINGS) return;
    this.#reported.add(message);
    this.#sink.warning("unknown_part", message);
  }
}
