/**
 * Finds paths of rules for reading in the words of shell commands.
 *
 * @module
 */

import type { Concern } from "./command_rules.ts";
import { compileGlob, expandBraces } from "../../core/ignore/glob.ts";
import type { ExecutedCommands } from "./executed_commands.ts";
import { type CallPath, MAX_CHARACTERS, normalizePath, type PathRule } from "./path_rules.ts";
import { listPathWords, looksLikePath } from "./path_words.ts";
import type { ShellWord } from "./shell_syntax.ts";

/** Maximum number of paths that are compared with a rule. */
const MAX_PATHS = 1_000;

/** Maximum number of paths that a word with patterns may be. */
const MAX_EXPANSIONS = 32;

/**
 * Whether a script names a path of a rule, as a file to read or a directory. Commands that read files without their names,
 * such as those of a directory above, are not found.
 */
export function findNamedPath(
  script: Pick<ExecutedCommands, "commands" | "words">,
  { concerns, names }: Pick<PathRule, "concerns" | "names">,
  workingDirectory: string | undefined,
): Concern {
  const candidates = new Map<string, boolean>();
  for (const { text, literal } of listScriptWords(script)) {
    const paths = literal ? [text] : expandPatterns(text, names);
    // The patterns of the word are too long.
    if (!paths) return "possible";
    for (const path of paths) candidates.set(path, literal || candidates.get(path) === true);
    if (candidates.size > MAX_PATHS) return "possible";
  }
  const found = new Set<Concern>();
  for (const [text, literal] of candidates) {
    const path = createNamedPath(text, workingDirectory);
    const concern = path ? concerns(path) : "none";
    found.add(concern === "certain" && !literal ? "possible" : concern);
  }
  return found.has("certain") ? "certain" : found.has("possible") ? "possible" : "none";
}

/** Returns the words that may be paths; if one is a variable or the output of a command, also those that may be its value. */
function listScriptWords({ commands, words }: Pick<ExecutedCommands, "commands" | "words">) {
  const named = commands.flatMap(listPathWords);
  if (!named.some(({ text, literal }) => !literal && /[$`]/.test(text))) return named;
  const values = words.filter(({ text }) => looksLikePath(text));
  return [...values.map((word): ShellWord => ({ ...word, literal: false })), ...named];
}

/** Returns the paths to which a shell may expand a word, of the names in a rule; `undefined` if there may be too many. */
function expandPatterns(word: string, names: readonly string[]): readonly string[] | undefined {
  try {
    return expandBraces(word).flatMap((text) => {
      const segments = text.split("/").map((segment) => [segment, ...findMatches(segment, names)]);
      return segments.reduce((starts, forms) =>
        starts.flatMap((start) => forms.map((form) => `${start}/${form}`)).slice(-MAX_EXPANSIONS)
      );
    });
  } catch {
    return undefined;
  }
}

function findMatches(segment: string, names: readonly string[]): readonly string[] {
  // A pattern for all names names none.
  return /[*?[]/.test(segment) && !/^[*?]+$/.test(segment)
    ? names.filter(compileGlob(segment))
    : [];
}

/** Returns the path to which a word may refer. */
function createNamedPath(text: string, workingDirectory: string | undefined): CallPath | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  // The path may follow any directory.
  const isBased = /^(?:~|\$|\.\.\/)/.test(text);
  const named = normalizePath(isBased ? text.replace(/^(?:\.\.\/)+|^[^/]*/, "/") : text);
  if (named === undefined) return undefined;
  const canonical = isBased || workingDirectory === undefined
    ? undefined
    : resolveForms(named, workingDirectory);
  return {
    named,
    canonical,
    isUncertain: false,
    isDirectory: true,
    excluded: NONE,
    workingDirectory,
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the absolute form of a path, and the one relative to the working directory if it is in it. */
function resolveForms(named: string, workingDirectory: string): readonly string[] {
  if (!named.startsWith("/")) return [named, `${workingDirectory}/${named}`];
  const prefix = `${workingDirectory}/`;
  return named.startsWith(prefix) ? [named, named.slice(prefix.length)] : [named];
}
