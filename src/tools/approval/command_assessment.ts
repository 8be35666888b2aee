/**
 * Assessment of shell commands as harmless, ordinary or dangerous, as advice for an approval. It enforces nothing:
 * the sandbox does.
 *
 * @module
 */

import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import type { ShellWord } from "../kit/simple_command.ts";
import { findDangers } from "./command_dangers.ts";
import {
  type ExecutedCommands,
  findExecutedCommands,
  getProgram,
} from "./commands/executed_commands.ts";
import { isHarmlessCommand } from "./commands/harmless_commands.ts";
import { findNamedSecrets } from "./reads/named_secrets.ts";
import { isNameReader, listSearchExpressions } from "./reads/path_words.ts";

/** The assessment of a shell command. */
export interface CommandAssessment {
  /**
   * `harmless`: of a form that is known to be read-only. `dangerous`: may do damage that cannot be undone, or uses
   * secrets. `ordinary`: all others, including ambiguous commands.
   */
  readonly verdict: "harmless" | "ordinary" | "dangerous";
  /** Reasons why it is dangerous, one sentence each; empty for other verdicts. */
  readonly reasons: readonly string[];
  /** Names of the programs it runs, each once. */
  readonly programs: readonly string[];
  /** Whether it may run other programs that cannot be determined. */
  readonly opaque: boolean;
}

/**
 * Assesses a shell command.
 *
 * @param options `protect` lists globs of files with secrets. Default: {@linkcode PROTECTED_FILES}.
 */
export function assessCommand(
  command: string,
  options: { readonly protect?: readonly string[] } = {},
): CommandAssessment {
  return assessScript(findExecutedCommands(command), options);
}

/** Assesses the commands of a script. */
export function assessScript(
  script: ExecutedCommands,
  { protect = PROTECTED_FILES }: { readonly protect?: readonly string[] } = {},
): CommandAssessment {
  const { commands, opaque, plain } = script;
  const secrets = findNamedSecrets(listOtherWords(script), protect).map((name) =>
    `It names ${JSON.stringify(name)}, which usually holds secrets.`
  );
  const reasons = [...new Set([...findDangers(script), ...secrets])];
  const isHarmless = plain && !opaque && commands.length > 0 && commands.every(isHarmlessCommand);
  const verdict = reasons.length > 0 ? "dangerous" : isHarmless ? "harmless" : "ordinary";
  const programs = [...new Set(commands.map(getProgram).filter((name) => name !== ""))];
  return { verdict, reasons, programs, opaque };
}

/**
 * Returns the words that are no expressions to search for, such as `process.env`; all, if another command may use what is
 * found as names of files.
 */
function listOtherWords({ commands, words }: ExecutedCommands): readonly ShellWord[] {
  const isPassed = commands.some(isNameReader) || words.some(({ text }) => /\$\(|`/.test(text));
  if (isPassed) return words;
  const counts = new Map<string, number>();
  for (const { text } of commands.flatMap(listSearchExpressions)) {
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return words.filter(({ text }) => {
    const count = counts.get(text) ?? 0;
    if (count > 0) counts.set(text, count - 1);
    return count === 0;
  });
}
