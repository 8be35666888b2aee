/**
 * Whether commands read only files below the working directory, where a read-only sandbox hides those with secrets. Only
 * common forms are known; others may read elsewhere, such as behind a link.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { type ExecutedCommands, mayChangeDirectory } from "../commands/executed_commands.ts";
import { isHarmlessCommand, isHarmlessRedirect } from "../commands/harmless_commands.ts";

/** The arguments with which a program reads no other files, and follows no links to directories. */
interface ReaderForm {
  /** Matches options, with their values in the same word. */
  readonly options: RegExp;
  /** Matches options whose value is the next word. */
  readonly valued: RegExp;
  /** Matches options without which the first operand is an expression; `undefined` if it is none anyway. */
  readonly expression?: RegExp;
  /** Whether a word names files below the working directory. */
  readonly isBelow: (word: ShellWord) => boolean;
}

const GREP: ReaderForm = {
  options:
    /^-(?:[EFGHILZabchilnoqrsvwxyz]+|[ABCm]\d+|\d+)$|^--(?:(?:include|exclude|exclude-dir|color|colour)=.*|recursive|line-number|ignore-case|with-filename|files-with-matches|count|word-regexp|no-messages)$/s,
  valued: /^-[EFGHILabchilnoqrsvwxy]*[ABCem]$/,
  expression: /^-[EFGHILabchilnoqrsvwxy]*e$/,
  isBelow: isWorkingDirectory,
};

const CAT: ReaderForm = { options: /^-[A-Za-z]+$|^-\d+$/, valued: /^-[nc]$/, isBelow: isEntry };

const FORMS: ReadonlyMap<string, ReaderForm> = new Map([
  ["grep", GREP],
  ["egrep", GREP],
  ["fgrep", GREP],
  ["rg", {
    options:
      /^-(?:[.FHINPSUVachilnoqsuvwx]+|[ABCgmt].+)$|^--(?:(?:i?glob|type|type-not|max-count|color|sort)=.*|hidden|no-ignore(?:-vcs)?|unrestricted|files|files-with-matches|line-number|ignore-case|no-heading|count|text)$/s,
    valued: /^-[.FHINPSUacilnoqsuvwx]*[ABCegmt]$|^--i?glob$/,
    expression: /^-[.FHINPSUacilnoqsuvwx]*e$|^--files$/,
    isBelow: isWorkingDirectory,
  }],
  ["cat", CAT],
  ["head", CAT],
  ["tail", CAT],
]);

/** Whether all commands of a script read only files below the working directory, or are harmless. */
export function readsOnlyBelow(script: ExecutedCommands): boolean {
  return !script.incomplete && !mayChangeDirectory(script) &&
    script.commands.every((command) => readsBelow(command) || isHarmlessCommand(command));
}

function readsBelow({ words, assignments, redirects }: SimpleCommand): boolean {
  const [program, ...args] = words;
  // By its name only: with a path, it may be another program of this name.
  const form = FORMS.get(program?.text ?? "");
  if (!form || assignments.length > 0 || !redirects.every(isHarmlessRedirect)) return false;
  let needsExpression = form.expression !== undefined &&
    !args.some(({ text }) => form.expression?.test(text));
  for (let index = 0; index < args.length; index++) {
    const { [index]: word, [index + 1]: value } = args;
    if (!word) return false;
    if (word.literal && form.valued.test(word.text)) {
      if (!value?.literal) return false;
      index++;
    } else if (word.literal && /^-./.test(word.text)) {
      if (!form.options.test(word.text)) return false;
    } else if (needsExpression) {
      if (!word.literal) return false;
      needsExpression = false;
    } else if (!form.isBelow(word)) {
      return false;
    }
  }
  return true;
}

function isWorkingDirectory({ text, literal }: ShellWord): boolean {
  return literal && /^\.\/*$/.test(text);
}

/** Whether a word is a name, or a pattern for entries of the working directory: the directories of others may be links. */
function isEntry({ text, literal }: ShellWord): boolean {
  return literal ? !text.startsWith("-") : /^(?:\.\/)?[\w.*?][\w.*?-]*$/.test(text);
}
