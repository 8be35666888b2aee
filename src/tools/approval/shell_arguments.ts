/**
 * The scripts that are among the arguments of a program which starts others, such as `uv run bash -c 'script'`.
 *
 * @module
 */

import type { ShellWord } from "./shell_syntax.ts";

/** Shells whose scripts are parsed, and those with a similar syntax. */
const SHELL = /^(?:.*\/)?(?:ba|da|k|a|z)?sh$/;

/** Options with a script in the next word, such as `-c` and `-lc`. */
const SCRIPT_OPTION = /^-[a-zA-Z]*c[a-zA-Z]*$/;

/** Returns the scripts of the shells among the arguments of a program. */
export function listShellArguments(args: readonly ShellWord[]): readonly string[] {
  return args.flatMap(({ text, literal }, index) => {
    if (!literal || !SHELL.test(text)) return [];
    const rest = args.slice(index + 1);
    const option = rest.findIndex((word) =>
      !/^[-+]/.test(word.text) || SCRIPT_OPTION.test(word.text)
    );
    if (option === -1 || !SCRIPT_OPTION.test(rest[option]?.text ?? "")) return [];
    const script = rest.slice(option + 1).find((word) => !/^[-+]/.test(word.text));
    return script?.literal ? [script.text] : [];
  });
}
