/**
 * Finds paths of rules for reading in the words of shell commands.
 *
 * @module
 */

import { expandBraces } from "../../../core/ignore/glob.ts";
import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { readEnvironmentVariable } from "../../process/command_environment.ts";
import { type ExecutedCommands, getProgram } from "../commands/executed_commands.ts";
import type { Concern } from "../patterns/concern.ts";
import type { CallPath, PathRule } from "../patterns/path_rules.ts";
import { type PathPattern, UNKNOWN_SEGMENT } from "../patterns/pattern_overlap.ts";
import { listValues } from "../shell/word_values.ts";
import { looksLikePath } from "./code_paths.ts";
import {
  isNameReader,
  isPrinter,
  listDirectoryOptions,
  listInputCodePaths,
  listInputNames,
  listPathWords,
  listSelectedNames,
  type PathWord,
  readsVariable,
} from "./path_words.ts";

/** Maximum number of paths that are compared with a rule. */
const MAX_PATHS = 2_000;

/** Maximum length of a word, and of the names in it; systems have no longer paths. */
const MAX_CHARACTERS = 4_096;
const MAX_NAMES = 64;

/** Maximum number of directories in which the commands of a script may run. */
const MAX_DIRECTORIES = 8;

/** The directory in which a script starts. */
export interface StartDirectory {
  /** Canonical path of the directory in which a shell starts; `undefined` when it is not known. */
  readonly workingDirectory: string | undefined;
  /** Whether an earlier command may have changed the directory. */
  readonly isMoved: boolean;
}

/**
 * Whether a script names a path of a rule, as a file to read or a directory. Commands that read files without their names,
 * such as those of a directory above, are not found.
 */
export function findNamedPath(
  script: ExecutedCommands,
  { concerns, mayConcern }: Pick<PathRule, "concerns" | "mayConcern">,
  start: StartDirectory,
): Concern {
  if (script.incomplete) return "possible";
  const { words: all } = script;
  const commands = [...script.commands, ...script.launched];
  const words = new Map(
    listScriptWords({ commands, words: all }).map((word) => [
      `${word.literal} ${word.isGlob ?? false} ${word.text}`,
      word,
    ]),
  );
  const directories = findDirectories(commands, start);
  let isPossible = false;
  let count = 0;
  for (const word of words.values()) {
    const paths = listPaths(word, directories);
    if (!paths || (count += paths.length) > MAX_PATHS) return "possible";
    for (const possible of paths) {
      if (possible.type === "pattern") {
        isPossible ||= mayConcern(possible.path, start.workingDirectory);
        continue;
      }
      const concern = concerns(possible.path);
      if (concern === "certain") return "certain";
      isPossible ||= concern === "possible";
    }
  }
  return isPossible ? "possible" : "none";
}

/** Returns the words of a script that may be paths. */
function listScriptWords(
  { commands, words }: Pick<ExecutedCommands, "commands" | "words">,
): readonly PathWord[] {
  const listTexts = (listed: readonly SimpleCommand[]): ReadonlySet<string> =>
    new Set(listed.flatMap((command) => command.words.map(({ text }) => text)));
  const own = listTexts(commands);
  // Other commands are the source of names, too, but theirs are decided with their options, which may leave files out.
  const isPassed = commands.some(isNameReader) ||
    words.some(({ text }) => /\$\(|`/.test(text));
  const passed = listTexts(isPassed ? commands.filter(isPrinter) : []);
  // The others are those of loops and assignments, which a program that reads files may get in a variable.
  const isRead = commands.some(readsVariable);
  const others = words.filter(({ text }) =>
    (isRead || looksLikePath(text)) && !text.startsWith("-") &&
    (passed.has(text) || !own.has(text))
  );
  return [
    ...commands.flatMap(listPathWords),
    ...listInputNames(commands),
    ...listInputCodePaths(commands),
    ...(isPassed ? commands.flatMap(listSelectedNames) : []),
    ...others.flatMap(({ text, literal }) =>
      listValues(text.replace(/(?:\\[nrt])+$/, ""), true).map((value) => ({ text: value, literal }))
    ),
  ];
}

/** The directories in which commands of a script run. */
interface Directories {
  /** Their segments; those of a relative path if the working directory is not known. */
  readonly known: readonly (readonly string[])[];
  /** The working directory of the project, if it is known. */
  readonly root: string | undefined;
  /** Whether a command may run in another directory. */
  readonly hasOthers: boolean;
}

/** Follows the commands that change the directory. */
function findDirectories(
  commands: readonly SimpleCommand[],
  { workingDirectory, isMoved }: StartDirectory,
): Directories {
  const known: (readonly string[])[] = [splitPath(workingDirectory ?? "")];
  let hasOthers = isMoved;
  for (const command of commands) {
    const isChange = /^(?:cd|pushd)$/.test(getProgram(command));
    const [operand, ...others] = isChange
      ? command.words.slice(1).filter(({ text }) => !/^-[LPe]+$|^--$/.test(text))
      : listDirectoryOptions(command);
    if (!isChange && !operand) continue;
    const isKnown = operand?.literal === true && others.length === 0 &&
      workingDirectory !== undefined && !/^[-+~]/.test(operand.text);
    if (!isKnown || known.length >= MAX_DIRECTORIES) hasOthers = true;
    else {
      const { text } = operand;
      const bases = text.startsWith("/") ? [[]] : [...known];
      for (const base of bases) {
        known.push(resolveSegments([...base, ...splitPath(text)]).segments);
      }
    }
  }
  return { known, root: workingDirectory, hasOthers };
}

function splitPath(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** Resolves `..`; `isAbove` if it leads above the start. */
function resolveSegments(
  names: readonly string[],
): { readonly segments: readonly string[]; readonly isAbove: boolean } {
  const segments: string[] = [];
  let isAbove = false;
  for (const name of names) {
    if (name !== "..") segments.push(name);
    else if (segments.pop() === undefined) isAbove = true;
  }
  return { segments, isAbove };
}

/** A path that a word may refer to. */
type PossiblePath =
  | { readonly type: "exact"; readonly path: CallPath }
  | { readonly type: "pattern"; readonly path: PathPattern };

/** Returns the paths that a word may refer to; `undefined` if it is too long or has too many. */
function listPaths(
  word: PathWord,
  directories: Directories,
): readonly PossiblePath[] | undefined {
  const { text } = word;
  if (text.length > MAX_CHARACTERS || text.split("/").length > MAX_NAMES) return undefined;
  try {
    return word.isGlob ? expand(text).flatMap(locateGlob) : findPaths(word, directories);
  } catch {
    // Its braces have too many alternatives.
    return undefined;
  }
}

function findPaths({ text, literal }: ShellWord, directories: Directories): PossiblePath[] {
  return literal && !text.startsWith("~")
    ? locate(text, { directories, isExact: true })
    : expand(text).flatMap((path) => locate(path, { directories, isExact: false }));
}

/** Returns the paths of a word with expansions, each of which is {@linkcode UNKNOWN_SEGMENT}. */
function expand(text: string): string[] {
  const pattern = text
    .replace(/^\$\{?PWD\}?(?=\/|$)/, ".")
    .replace(/^\$\{?HOME\}?(?=\/|$)/, "~")
    .replace(/\$\{[^}]*\}|\$\([^)]*\)|\$\w+|`[^`]*`/g, UNKNOWN_SEGMENT)
    .replace(/\{[^{},]*\.\.[^{},]*\}/g, "*");
  const home = readEnvironmentVariable("HOME");
  return expandBraces(pattern).flatMap((path) =>
    home && /^~(?=\/|$)/.test(path) ? [path, home + path.slice(1)] : [path]
  );
}

interface LocateOptions {
  readonly directories: Directories;
  /** Whether the shell passes exactly this text. */
  readonly isExact: boolean;
}

/** Finds the paths that a text means, and those to which a link such as `/proc/self/cwd` may lead. */
function locate(text: string, options: LocateOptions): PossiblePath[] {
  return locateIn(text, options).flatMap((path) => [path, ...followKernelLinks(path)]);
}

/** Returns the unknown path that begins behind a directory of the kernel which has links to other directories. */
function followKernelLinks({ type, path }: PossiblePath): PossiblePath[] {
  const isAbsolute = type === "pattern" ? path.start === "root" : path.named?.startsWith("/");
  const segments = type === "pattern" ? path.segments : splitPath(path.named ?? "");
  // The name of the process, or of its open files, is no file of a rule.
  const [directory, , ...rest] = segments;
  if (!isAbsolute || rest.length === 0 || !/^(?:proc|dev)$/.test(directory ?? "")) return [];
  return [{ type: "pattern", path: { segments: rest, start: "anywhere" } }];
}

/** Finds the paths that a text means in each directory. */
function locateIn(text: string, { directories, isExact }: LocateOptions): PossiblePath[] {
  const { known, root, hasOthers } = directories;
  const names = splitPath(text).map((name) => isExact ? name : toPattern(name));
  const toPath = (segments: readonly string[], isAbsolute: boolean): PossiblePath =>
    isExact
      ? { type: "exact", path: toCallPath(segments, { isAbsolute, root }) }
      : { type: "pattern", path: { segments, start: isAbsolute ? "root" : "directory" } };
  if (text.startsWith("/")) return [toPath(resolveSegments(names).segments, true)];
  const [first = ""] = text.split("/");
  if (!isExact && /^~|\0/.test(first)) {
    const isName = first !== UNKNOWN_SEGMENT && !first.startsWith("~");
    const { segments } = resolveSegments(isName ? names : names.slice(1));
    const start = first.startsWith("~") ? "above" : "anywhere";
    return segments.length === 0 ? [] : [{ type: "pattern", path: { segments, start } }];
  }
  const paths = known.map((directory): PossiblePath => {
    const { segments, isAbove } = resolveSegments([...directory, ...names]);
    return root === undefined && isAbove
      ? { type: "pattern", path: { segments, start: "above" } }
      : toPath(segments, root !== undefined);
  });
  if (!hasOthers) return paths;
  const { segments } = resolveSegments(names);
  return [...paths, { type: "pattern", path: { segments, start: "anywhere" } }];
}

/** Returns the paths that a program may find by a glob. */
function locateGlob(text: string): PossiblePath {
  const { segments } = resolveSegments(splitPath(text).map(toPattern));
  return { type: "pattern", path: { segments, start: text.startsWith("/") ? "root" : "inside" } };
}

function toPattern(name: string): string {
  return name === UNKNOWN_SEGMENT ? name : name.replaceAll(UNKNOWN_SEGMENT, "*");
}

interface CallPathOptions {
  readonly isAbsolute: boolean;
  /** The working directory, if it is known. */
  readonly root: string | undefined;
}

function toCallPath(segments: readonly string[], { isAbsolute, root }: CallPathOptions): CallPath {
  const joined = segments.join("/");
  const absolute = `/${joined}`;
  const isInRoot = root !== undefined && (absolute === root || absolute.startsWith(`${root}/`));
  const relative = isInRoot ? absolute.slice(root.length + 1) || "." : absolute;
  return {
    named: isAbsolute ? relative : joined || ".",
    canonical: root === undefined ? undefined : [...new Set([relative, absolute])],
    isUncertain: false,
    isDirectory: true,
    excluded: NONE,
    workingDirectory: root,
  };
}

const NONE: ReadonlySet<string> = new Set();
