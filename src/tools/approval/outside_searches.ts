/**
 * Searches of directories outside those of a sandbox, also behind links, which any repository may contain.
 *
 * @module
 */

import type { NamedEntry } from "../../platform/file_calls.ts";
import { system } from "../../platform/system.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type ExecutedCommands, getProgram } from "./executed_commands.ts";
import { findWorkingDirectory } from "./path_rules.ts";
import { expandWord, listSearchOperands } from "./search_operands.ts";
import type { ShellWord, SimpleCommand } from "./shell_syntax.ts";

/** Options with which `grep` searches a directory, whatever its files are called, as `rg` and `ag` do. */
const RECURSIVE = /^-(?!-)\w*[rR]|^--(?:de?r|rec|dir)|^-\w*d/;

/** Matches what the shell replaces by names. */
const PATTERN = /[*?[]/;

/** The home or the working directory at the beginning of a word. */
const KNOWN_VARIABLE = /^(?:~\+?|\$\{?(?:HOME|PWD)\}?)(?=\/|$)/;

const CHANGES_DIRECTORY = /^(?:cd|pushd)$/;

/** Matches paths of installed programs and packages, to which package managers link. */
const INSTALLED = new RegExp(
  [
    "^/(?:bin|lib\\w*|nix|opt|sbin|usr)/",
    "/(?:node_modules|site-packages)(?:/|$)",
    "/\\.cargo/(?:registry|git/checkouts)(?:/|$)",
    "/\\.rustup/toolchains(?:/|$)",
    "/go/pkg/mod(?:/|$)",
    "/\\.m2/repository(?:/|$)",
    "/\\.gradle/caches(?:/|$)",
    "/\\.cache/deno/npm(?:/|$)",
  ].join("|"),
);

/** Maximum number of paths to examine; a script with more may search anywhere. */
const MAX_PATHS = 200;

/** Whether a script searches a directory outside those of a sandbox, where nothing hides files with secrets. */
export async function searchesOutside(
  { commands }: ExecutedCommands,
  files: Sandbox["files"],
): Promise<boolean> {
  const searches = commands.filter(isSearch);
  const root = searches.length === 0 ? undefined : await findWorkingDirectory(files);
  if (root === undefined) return false;
  const moves = commands.filter((command) => CHANGES_DIRECTORY.test(getProgram(command)));
  try {
    if (commands.some(movesElsewhere)) return true;
    const targets = moves.flatMap(listTargets);
    const operands = searches.flatMap((command) =>
      listSearchOperands(getProgram(command), command.words.slice(1))
    );
    if (targets.length > MAX_PATHS) return true;
    const bases = new Set([root, ...targets.flatMap((word) => listDirectories(word, root))]);
    if (bases.size * operands.length > MAX_PATHS) return true;
    const paths = new Set([...bases].flatMap((base) => [
      base,
      ...operands.flatMap((word) => listDirectories(word, base)),
    ]));
    if (paths.size > MAX_PATHS) return true;
    const outside = await Promise.all([...paths].map((path) => isOutside(path, files)));
    return outside.includes(true);
  } catch {
    return true; // A pattern has too many alternatives or is too long, or a value is not known.
  }
}

/** Whether a command sets where `cd` looks for directories, or starts another one in a directory. */
function movesElsewhere(command: SimpleCommand): boolean {
  const { words, assignments } = command;
  return assignments.includes("CDPATH") || words.some(({ text }) => /^CDPATH=/.test(text)) ||
    (getProgram(command) === "env" &&
      words.some(({ text }) => /^-(?!-)\w*C|^--c/.test(text)));
}

/** Lists where a command moves the shell: without an operand to the home directory. */
function listTargets({ words }: SimpleCommand): readonly ShellWord[] {
  const operands = words.slice(1).filter(({ text }) => !/^-[A-Za-z@]+$/.test(text));
  return operands.length > 0 ? operands.flatMap(expandWord) : [{ text: "~", literal: false }];
}

function isSearch(command: SimpleCommand): boolean {
  const program = getProgram(command);
  return /^(?:rg|ag)$/.test(program) ||
    /^[ef]?grep$/.test(program) && command.words.some(({ text }) => RECURSIVE.test(text));
}

/**
 * Lists the path of a word, or for a pattern those of directories and links that it may match.
 *
 * @throws {RangeError} When there are more than `MAX_PATHS`, or an expansion whose value is not known.
 */
function listDirectories({ text, literal }: ShellWord, base: string): readonly string[] {
  if (!literal && /[$`]/.test(text.replace(KNOWN_VARIABLE, ""))) {
    throw new RangeError("The directory is that of an expansion");
  }
  if (literal || !PATTERN.test(text)) return [toAbsolute(text, base)];
  const [first = "", ...rest] = text.split("/");
  // A name that was found may have the characters of patterns.
  let paths: readonly string[] = PATTERN.test(first)
    ? listMatches(base, first)
    : [toAbsolute(first, first === "" ? "" : base)];
  for (const segment of rest) {
    paths = PATTERN.test(segment)
      ? paths.flatMap((path) => listMatches(path, segment))
      : paths.map((path) => `${path}/${segment}`);
    if (paths.length > MAX_PATHS) throw new RangeError("The pattern matches too many directories");
  }
  return paths;
}

function listMatches(directory: string, pattern: string): readonly string[] {
  const start = pattern.slice(0, pattern.search(PATTERN));
  const end = pattern.replace(/^.*[*?\]]/s, "");
  return listEntries(directory || "/")
    .filter(({ name, isFile }) => !isFile && name.startsWith(start) && name.endsWith(end))
    .map(({ name }) => `${directory}/${name}`);
}

function listEntries(directory: string): readonly NamedEntry[] {
  try {
    return [...system.readDirSync(directory)];
  } catch {
    return [];
  }
}

/**
 * Keeps `..`, which leads out of the directory behind a link.
 *
 * @throws {RangeError} When the path begins with the home directory of another user.
 */
function toAbsolute(path: string, base: string): string {
  if (path.startsWith("/")) return path;
  const [name] = KNOWN_VARIABLE.exec(path) ?? [];
  if (name === undefined) {
    if (path.startsWith("~")) throw new RangeError("The home directory is that of another user");
    return `${base}/${path}`;
  }
  const start = /[+P]/.test(name) ? base : readEnvironmentVariable("HOME") ?? "";
  return `${start}/${path.slice(name.length)}`;
}

/** Whether a path is that of a directory outside those of a sandbox. */
async function isOutside(path: string, files: Sandbox["files"]): Promise<boolean> {
  try {
    const target = await system.realPath(path);
    if (INSTALLED.test(target) || !system.statSync(target).isDirectory) return false;
  } catch {
    return false;
  }
  try {
    await files.resolve(path, "read");
    return false;
  } catch {
    return true;
  }
}
