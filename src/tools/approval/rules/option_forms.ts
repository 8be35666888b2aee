/**
 * The forms in which programs accept an option.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";

/** Whether a word contains an option: abbreviated, with a value, or among the letters of short options. */
export function includesOption({ text }: ShellWord, option: string): boolean {
  if (option.startsWith("--")) {
    const [name = ""] = text.split("=");
    return name.length > 2 && option.startsWith(name);
  }
  return /^-\w$/.test(option) && /^-\w+/.test(text) && text.includes(option.charAt(1));
}

/** The long forms of short options of a program. */
type OptionForms = Readonly<Record<string, readonly string[]>>;

/** Those of common programs, and of sub-commands of git, in which one letter has several meanings. */
const OPTION_FORMS: ReadonlyMap<string, OptionForms> = new Map<string, OptionForms>([
  ["rm", { r: ["--recursive"], R: ["--recursive"], f: ["--force"] }],
  ["cp", { r: ["--recursive"], R: ["--recursive"], f: ["--force"] }],
  ["chmod", { R: ["--recursive"] }],
  ["chown", { R: ["--recursive"] }],
  ["git", { f: ["--force"] }],
  ["git branch", { d: ["--delete"], D: ["--delete", "--force"] }],
  ["git tag", { d: ["--delete"] }],
  ["git push", { d: ["--delete"] }],
  ["git commit", { n: ["--no-verify"] }],
  ["npm", { g: ["--global"] }],
  ["pnpm", { g: ["--global"] }],
  ["deno", {
    A: ["--allow-all"],
    R: ["--allow-read"],
    W: ["--allow-write"],
    N: ["--allow-net"],
    E: ["--allow-env"],
    S: ["--allow-sys"],
  }],
]);

/** Matches letters of short options. A longer word is one option of programs such as `find`. */
const SHORT_OPTIONS = /^-[a-zA-Z]{1,5}$/;

/** Whether words contain an option in other forms: `-r -f`, `-fr` and `--force -r` for `-rf`, `-f` for `--force`. */
export function includesForms(
  program: string,
  words: readonly ShellWord[],
  option: string,
): boolean {
  if (program === "find") return false;
  const forms: OptionForms = Object.assign(
    {},
    OPTION_FORMS.get(program),
    ...words.map(({ text }) => OPTION_FORMS.get(`${program} ${text}`)),
  );
  const wanted = listForms(option, forms);
  const isPush = program === "git" && words.some(({ text }) => text === "push");
  const given = new Set(
    words.flatMap(({ text }) => [
      ...listForms(text, forms),
      ...(isPush ? listReferenceForms(text) : []),
    ]),
  );
  const isGiven = (form: string): boolean =>
    given.has(form) || [...given].some((text) => /^--./.test(text) && form.startsWith(text));
  return wanted.length > 0 && wanted.every(isGiven);
}

/** Returns the option of `git push` that has the effect of a reference such as `+main` and `:main`. */
function listReferenceForms(text: string): readonly string[] {
  if (/^\+./.test(text)) return ["--force"];
  return /^:./.test(text) ? ["--delete"] : [];
}

/** Returns the options in a word, the long ones without their value. */
function listForms(text: string, forms: OptionForms): readonly string[] {
  if (text.startsWith("--")) return [text.replace(/=.*$/s, "")];
  if (!SHORT_OPTIONS.test(text)) return [];
  return [...text.slice(1)].flatMap((letter) => forms[letter] ?? [`-${letter}`]);
}
