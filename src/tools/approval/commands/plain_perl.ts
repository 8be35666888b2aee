/**
 * One-line programs of Perl that only change and print lines, as those of `sed` do.
 *
 * @module
 */

/** Options without code; the last letter `e` is that of the code in the next word. Behind `i`, it would be a suffix. */
const OPTION = /^-(?:[alnp]|0[0-7]*)*(?:i(?:\.\w+)?|(e))?$/;

/** A file, whose name is neither a command nor a redirection. */
const FILE = /^[^-|<>\s][^|<>\s]*$/;

/** A character of an expression without variables and code, except its groups and the end of a line. */
const CHARACTER = String
  .raw`(?:(?!\k<end>)[^\\\n$@]|\\[^\n]|\$(?=\k<end>|[1-9&](?![\d[{]|->)))`;

/** A statement that changes or prints a line, and the separators around it. */
const STATEMENT = new RegExp(
  String.raw`[;\s]*(?:` + [
    String.raw`s(?<end>[/|#,!%:~])${CHARACTER}*\k<end>${CHARACTER}*\k<end>[gimsxr]*(?=\s*(?:;|$))`,
    String.raw`print(?: (?:if|unless) \/(?:[^\\\n$@/]|\\[^\n]|\$(?=\/))*\/i?)?(?=\s*(?:;|$))`,
  ].join("|") + String.raw`)[;\s]*`,
  "y",
);

/** Maximum length of a program that is analyzed, which takes time of its square. */
const MAX_PROGRAM = 4_096;

/** Whether Perl with these arguments only changes or prints the lines of its input and of files. */
export function isPlainPerl(args: readonly string[]): boolean {
  let hasCode = false;
  for (let index = 0; index < args.length; index++) {
    const text = args[index] ?? "";
    const [option, code] = OPTION.exec(text) ?? [];
    if (option === undefined && !FILE.test(text)) return false;
    if (!code) continue;
    hasCode = true;
    if (!isPlainProgram(args[++index] ?? "")) return false;
  }
  return hasCode;
}

function isPlainProgram(text: string): boolean {
  // Patterns may contain code.
  if (text === "" || text.length > MAX_PROGRAM || /\((?:\?\??|\*\*?)\{/.test(text)) return false;
  let position = 0;
  while (position < text.length) {
    STATEMENT.lastIndex = position;
    const [match] = STATEMENT.exec(text) ?? [];
    if (!match) return false;
    position += match.length;
  }
  return true;
}
