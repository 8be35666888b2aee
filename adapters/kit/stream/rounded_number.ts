/**
 * Numbers that a provider may have rounded.
 *
 * @module
 */

import { findLostDigits } from "../../../src/core/json/parsed_problem.ts";
import type { WarningSink } from "../request/warnings.ts";

/** A tool call with the JSON text of its arguments. */
interface CompleteCall {
  readonly name: string;
  readonly args: string;
}

/**
 * Warns about the first integer beyond 2^53 of a call that has as many digits as a number keeps. Google and Ollama parse
 * the arguments of calls, and so change the last digits of an id that the model writes as a number. Round numbers, such as
 * 10^18, are not reported.
 */
export function warnRoundedNumber({ name, args }: CompleteCall, sink: WarningSink): void {
  // A call whose digits are known to be lost is refused.
  if (!/\d{16}|\d\.\d{15}/.test(args) || findLostDigits(args) !== undefined) return;
  const withoutTexts = args.replace(/\\./g, "").replace(/"[^"]*"/g, "");
  const number = withoutTexts.match(/-?\d[\d.eE+-]*/g)?.find(isRounded);
  if (number === undefined) return;
  const message = `The provider may have rounded the number ${number} in the arguments of ` +
    `${name}: give such parameters the type string`;
  sink.warning("rounded_number", message);
}

function isRounded(number: string): boolean {
  const value = Math.abs(Number(number));
  const digits = String(value).replace(/e.*|\./g, "").replace(/0+$/, "");
  return value > Number.MAX_SAFE_INTEGER && digits.length >= 16;
}
