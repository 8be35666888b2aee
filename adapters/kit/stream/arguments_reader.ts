/**
 * Arguments of tool calls that a server sends as values.
 *
 * @module
 */

import { findChangedIntegers, restoreIntegers } from "../../../src/core/json/parsed_problem.ts";
import { toArgumentsText } from "./wire_values.ts";

/**
 * Converts the arguments of the calls of one reply to text. Integers with more digits than a number keeps are written as in
 * the events, so that the calls are refused. Each event is searched once, however many calls it has.
 */
export class ArgumentsReader {
  readonly #integers = new Map<string, string>();
  #lastEvent = "";

  /** Returns the JSON text of the arguments in an event. */
  toText(args: unknown, event: string): string {
    const text = toArgumentsText(args);
    if (typeof args === "string" || text === "") return text;
    this.readNumbers(event);
    return restoreIntegers(text, this.#integers);
  }

  /** Reads the numbers of an event, for arguments of which it has a part. */
  readNumbers(event: string): void {
    if (event === this.#lastEvent) return;
    this.#lastEvent = event;
    for (const [changed, integer] of findChangedIntegers(event)) {
      this.#integers.set(changed, integer);
    }
  }
}
