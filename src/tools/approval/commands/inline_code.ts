/**
 * Code in the arguments of an interpreter that starts programs, which its other arguments, its input or its variables may
 * name.
 *
 * @module
 */

import { createProgramTest, isLanguage } from "./interpreters.ts";

/** Calls that start a program, or run a text as code. A regular expression has a method `exec`, too. */
const STARTS_PROGRAM =
  /`|%x|\b(?:subprocess|child_process|system|popen\w*|open[23]|passthru|proc_open|qx|shell_exec|spawn\w*)\b|\b(?:os|process)\.exec\w*|\b(?:Deno\.)?Command\b|(?<![.\w])(?:exec|eval)\b|do shell script/i;

const READS_ARGUMENTS = /argv|\bshift\b|@_|\bDeno\.args\b|\barg\[/i;

const READS_INPUT = /stdin|<>|\$_\b|\$0|\bgets\b|\binput\(|\bARGF\b|readline|\b0, *['"]utf/i;

const READS_VARIABLES = /environ|getenv|\benv\b|%ENV|\$ENV/i;

const isAwk = createProgramTest("[gmn]?awk");

/** Returns the index behind the code that may start the program in the arguments which follow it; -1 if there is none. */
export function findStartedArguments(program: string, args: readonly string[]): number {
  if (!isLanguage(program)) return -1;
  const index = args.findIndex((text) => STARTS_PROGRAM.test(text) && READS_ARGUMENTS.test(text));
  return index === -1 ? -1 : index + 1;
}

/** Whether code in the arguments of a program may run its input. */
export function startsInput(program: string, args: readonly string[]): boolean {
  return (isLanguage(program) || isAwk(program)) &&
    args.some((text) => STARTS_PROGRAM.test(text) && READS_INPUT.test(text));
}

/** Whether code in the arguments of a program may run the value of a variable. */
export function startsVariable(
  program: string,
  args: readonly { readonly text: string; readonly literal: boolean }[],
): boolean {
  return isLanguage(program) &&
    args.some(({ text, literal }) =>
      STARTS_PROGRAM.test(text) && (!literal || READS_VARIABLES.test(text))
    );
}
