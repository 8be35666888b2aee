/**
 * Checks what `normalize` returns.
 *
 * @module
 */

import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { ignoreRejections } from "../core/errors/refuse_promise.ts";

/** Replaces the parts of a text that differ between equal requests. */
export type NormalizeText = (text: string) => string;

/** Returns a function that throws if another one returns no text: all requests would be equal. */
export function checkNormalize(normalize: NormalizeText): NormalizeText {
  return (text) => {
    const normalized: unknown = normalize(text);
    if (typeof normalized === "string") return normalized;
    ignoreRejections(normalized);
    throw new BadRequestError(
      `normalize must return a text, not ${describeValue(normalized)}`,
    );
  };
}
