/**
 * Finds paths of rules for reading in the words of shell commands.
 *
 * @module
 */

import type { Concern } from "./command_rules.ts";
import { type ExecutedCommands, getProgram } from "./executed_commands.ts";
import { hasHarmlessForms, WITHOUT_FILES } from "./harmless_commands.ts";
import { type CallPath, normalizePath, type PathRule } from "./path_rules.ts";
import type { ShellWord, SimpleCommand } from "./shell_syntax.ts";

/** Maximum number of words that are compared with a rule. */
const MAX_WORDS = 500;

/**
 * Whether a script names a path of a rule, as a file to read or a directory. Commands that read files without their names,
 * such as those of a directory above, are not found.
 */
export function findNamedPath(
  { commands }: ExecutedCommands,
  { concerns }: Pick<PathRule, "concerns">,
  workingDirectory: string | undefined,
): Concern {
  const words = new Map(commands.flatMap(listPathWords).map((word) => [word.text, word]));
  if (words.size > MAX_WORDS) return "possible";
  const found = new Set<Concern>();
  for (const { text, literal } of words.values()) {
    for (const path of listPaths(text, workingDirectory)) {
      const concern = concerns(path);
      found.add(concern === "certain" && !literal ? "possible" : concern);
    }
  }
  return found.has("certain") ? "certain" : found.has("possible") ? "possible" : "none";
}

/**
 * Returns the words of a command that may be paths: all operands of a program that reads files, and of others those that
 * look so and are no text.
 */
function listPathWords(command: SimpleCommand): readonly ShellWord[] {
  const { words, redirects } = command;
  const program = getProgram(command);
  const targets = redirects.flatMap(({ target }) => target ?? []);
  if (program !== "cd" && WITHOUT_FILES.has(program)) return targets;
  const isReader = program === "cd" || hasHarmlessForms(words);
  const operands = words.slice(1).filter(({ text }) => isReader || /^\S*[/.]\S*$/.test(text));
  return [...operands, ...targets];
}

/** Returns the paths that a word may refer to: itself, and the value of an option or of a revision. */
function listPaths(text: string, workingDirectory: string | undefined): readonly CallPath[] {
  const candidates = [text, ...text.split(/[=:@]/).slice(1)];
  return candidates.filter((candidate) => candidate !== "").flatMap((candidate) => {
    // The path may follow any directory.
    const isBased = /^(?:~|\$|\.\.\/)/.test(candidate);
    const named = normalizePath(
      isBased ? candidate.replace(/^(?:\.\.\/)+|^[^/]*/, "/") : candidate,
    );
    if (named === undefined) return [];
    const canonical = isBased || workingDirectory === undefined
      ? undefined
      : resolveForms(named, workingDirectory);
    return [{
      named,
      canonical,
      isUncertain: false,
      isDirectory: true,
      excluded: NONE,
      workingDirectory,
    }];
  });
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the absolute form of a path, and the one relative to the working directory if it is in it. */
function resolveForms(named: string, workingDirectory: string): readonly string[] {
  if (!named.startsWith("/")) return [named, `${workingDirectory}/${named}`];
  const prefix = `${workingDirectory}/`;
  return named.startsWith(prefix) ? [named, named.slice(prefix.length)] : [named];
}
