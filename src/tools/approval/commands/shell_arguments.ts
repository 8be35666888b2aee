/**
 * The scripts that are among the arguments of a program which starts others, such as `uv run bash -c 'script'`.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";

/** Shells whose scripts are parsed, and those with a similar syntax. */
const SHELL = /^(?:.*\/)?(?:ba|da|k|a|z)?sh$/;

/** Options with a script in the next word, such as `-c` and `-lc`. */
const SCRIPT_OPTION = /^-[a-zA-Z]*c[a-zA-Z]*$/;

/** Programs that pass the value of an option to a shell, as in `npx -c 'script'`. */
const CALLERS = /^(?:npm|npx|pnpm|pnpx|nix-shell)$/;
const CALL_OPTION = /^(?:-c|--(?:call|command|run))(?:=(.*))?$/s;

/** Returns the scripts of the shells among the arguments of a program. */
export function listShellArguments(
  program: string,
  args: readonly ShellWord[],
): readonly string[] {
  const isCaller = CALLERS.test(program);
  return args.flatMap(({ text, literal }, index) => {
    if (literal && SHELL.test(text)) return findScript(args, index + 1);
    const call = isCaller ? CALL_OPTION.exec(text) : null;
    return call ? call[1] ?? args[index + 1]?.text ?? [] : [];
  });
}

/** Options with a value in the next word, such as `-o` and `-euo`. */
const VALUED_OPTION = /^(?:[-+][a-zA-Z]*[oO][a-zA-Z]*|--(?:rcfile|init-file))$/;

/** Finds the script behind the options of a shell. One that is only an expansion may be anything. */
function findScript(args: readonly ShellWord[], start: number): readonly string[] {
  let hasScript = false;
  for (let index = start; index < args.length; index++) {
    const { text = "", literal = false } = args[index] ?? {};
    if (!/^[-+]/.test(text)) return hasScript && (literal || /\s/.test(text)) ? [text] : [];
    hasScript ||= SCRIPT_OPTION.test(text);
    if (VALUED_OPTION.test(text)) index++;
  }
  return [];
}
