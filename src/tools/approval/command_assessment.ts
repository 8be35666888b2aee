/**
 * Assessment of shell commands as harmless, ordinary or dangerous, as advice for an approval. It enforces nothing:
 * the sandbox does.
 *
 * @module
 */

import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { findDangers } from "./command_dangers.ts";
import { type ExecutedCommands, findExecutedCommands, getProgram } from "./executed_commands.ts";
import { isHarmlessCommand } from "./harmless_commands.ts";
import { findNamedSecrets } from "./named_secrets.ts";

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
  const { commands, words, opaque, plain } = script;
  const secrets = findNamedSecrets(words, protect).map((name) =>
    `It names ${JSON.stringify(name)}, which usually holds secrets.`
  );
  const reasons = [...new Set([...findDangers(script), ...secrets])];
  const isHarmless = plain && !opaque && commands.length > 0 && commands.every(isHarmlessCommand);
  const verdict = reasons.length > 0 ? "dangerous" : isHarmless ? "harmless" : "ordinary";
  const programs = [...new Set(commands.map(getProgram).filter((name) => name !== ""))];
  return { verdict, reasons, programs, opaque };
}
