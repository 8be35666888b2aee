/**
 * The command line that continues an evaluation.
 *
 * @module
 */

import { type GivenOptions, toFlag } from "../command_line/definition.ts";

/**
 * Options that are part of the evaluation on disk, so that `--resume` excludes them, and the directory of the results, which
 * the path of the evaluation includes.
 */
const KEPT: ReadonlySet<string> = new Set([
  "model",
  "effort",
  "filter",
  "repeat",
  "seed",
  "chaos",
  "resume",
  "results",
]);

/**
 * Returns a command with the argument and the options that an interrupted evaluation needs again: without its recording, its
 * judge or its limits, the missing runs would be other ones than those that are finished.
 */
export function formatResumedCommand(
  command: string,
  argument: string,
  { options, given }: GivenOptions<Readonly<Record<string, unknown>>>,
): string {
  const again = [...given].filter((name) => !KEPT.has(name));
  return [command, quote(argument), ...again.map((name) => formatOption(name, options[name]))]
    .join(" ");
}

/** Returns an environment variable without its value, which can be a key and does not belong in a log. */
function hideValue(variable: string): string {
  return variable.replace(/=.*/s, "=...");
}

/** Formats an option with its values, such as `--max-turns=7`. */
export function formatOption(name: string, value: unknown): string {
  const flag = toFlag(name);
  if (value === true) return flag;
  const values = Array.isArray(value) ? value : [value];
  const texts = values.map(String).map(name === "env" ? hideValue : (text) => text);
  return texts.map((text) => `${flag}=${quote(text)}`).join(" ");
}

/** Quotes a text that a shell would split or replace. */
function quote(text: string): string {
  if (/^[\w.,:=@+/-]+$/.test(text)) return text;
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
