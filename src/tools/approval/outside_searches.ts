/**
 * Searches of directories outside those of a sandbox, also behind links, which any repository may contain.
 *
 * @module
 */

import { system } from "../../platform/system.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { type ExecutedCommands, getProgram } from "./executed_commands.ts";
import { findWorkingDirectory } from "./path_rules.ts";
import type { SimpleCommand } from "./shell_syntax.ts";

/** Options with which `grep` searches a directory, whatever its files are called, as `rg` and `ag` do. */
const RECURSIVE = /^-(?!-)\w*[rR]|^--(?:de?r|rec|dir)|^-\w*d/;

const CHANGES_DIRECTORY = /^(?:cd|pushd)$/;

/** Options with the expression, which is otherwise the first operand. */
const EXPRESSIONS = /^-(?!-)\w*[ef]|^--(?:reg|file)/;

/** Options that are followed by an expression. */
const EXPRESSION = /^-(?!-)\w*[ef]$|^--(?:regexp|file)$/;

/** Matches paths of installed programs and packages, to which package managers link. */
const INSTALLED = /^\/(?:bin|lib\w*|nix|opt|sbin|usr)\/|\/(?:node_modules|site-packages)(?:\/|$)/;

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
  const bases = [root, ...moves.flatMap(listOperands).map((path) => toAbsolute(path, root))];
  const operands = searches.flatMap(listSearched);
  const paths = new Set([
    ...bases,
    ...bases.flatMap((base) => operands.map((path) => toAbsolute(path, base))),
  ]);
  if (paths.size > MAX_PATHS) return true;
  const outside = await Promise.all([...paths].map((path) => isOutside(path, files)));
  return outside.includes(true);
}

function isSearch(command: SimpleCommand): boolean {
  const program = getProgram(command);
  return /^(?:rg|ag)$/.test(program) ||
    /^[ef]?grep$/.test(program) && command.words.some(({ text }) => RECURSIVE.test(text));
}

function listOperands({ words }: SimpleCommand): readonly string[] {
  return words.slice(1).flatMap(({ text }) => text === "" || text.startsWith("-") ? [] : [text]);
}

/** Lists what a program may search: its operands without the expression. */
function listSearched({ words, ...command }: SimpleCommand): readonly string[] {
  const rest = words.filter((_, index) => !EXPRESSION.test(words[index - 1]?.text ?? ""));
  const operands = listOperands({ ...command, words: rest });
  return words.some(({ text }) => EXPRESSIONS.test(text)) ? operands : operands.slice(1);
}

/** Keeps `..`, which leads out of the directory behind a link. */
function toAbsolute(path: string, base: string): string {
  if (path.startsWith("/")) return path;
  const [home] = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/.exec(path) ?? [];
  return home === undefined
    ? `${base}/${path}`
    : `${readEnvironmentVariable("HOME") ?? ""}/${path.slice(home.length)}`;
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
