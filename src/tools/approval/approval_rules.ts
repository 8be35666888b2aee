/**
 * Rules about calls, as people write them: `read_file`, `edit_file(src/**)`, `bash(npm test)`, `bash(git log *)`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { isReadOnlyCommand } from "./command_assessment.ts";
import { compileGlob } from "../../core/ignore/glob.ts";
import { findExecutedCommands } from "./executed_commands.ts";
import type { SimpleCommand } from "./shell_parser.ts";

/** One rule, read. */
export interface ApprovalRule {
  /** The rule as it was written. */
  readonly source: string;
  /** Whether the rule, as one that allows, covers a whole call. */
  readonly matchesAll: (name: string, args: JsonObject) => boolean;
  /** Whether the rule, as one that denies, touches any part of a call. */
  readonly matchesAny: (name: string, args: JsonObject) => boolean;
}

/**
 * Reads a rule.
 *
 * @throws {BadRequestError} When it has not the form `tool` or `tool(pattern)`.
 */
export function parseApprovalRule(source: string): ApprovalRule {
  const [, tool, pattern] = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(source) ?? [];
  if (tool === undefined) {
    throw new BadRequestError(
      `${
        JSON.stringify(source)
      } is no rule: write a tool's name, or one with a pattern, such as "bash(git log *)"`,
    );
  }
  // Rules written for other agents call the tool by another case.
  const isTool = (name: string) => name.toLowerCase() === tool.toLowerCase();
  if (pattern === undefined || pattern === "" || pattern === "*") {
    return { source, matchesAll: isTool, matchesAny: isTool };
  }
  const fits = tool.toLowerCase() === "bash" ? createCommandRule(pattern) : createPathRule(pattern);
  return {
    source,
    matchesAll: (name, args) => isTool(name) && fits.matchesAll(args),
    matchesAny: (name, args) => isTool(name) && fits.matchesAny(args),
  };
}

interface ArgumentRule {
  readonly matchesAll: (args: JsonObject) => boolean;
  readonly matchesAny: (args: JsonObject) => boolean;
}

/** A pattern of words; `*` at the end stands for any more words, within a word for any characters. */
function createCommandRule(pattern: string): ArgumentRule {
  const fits = createWordMatcher(pattern.replace(/:\*$/, " *"));
  return {
    matchesAll: ({ command }) => typeof command === "string" && matchesCommand(command, fits),
    matchesAny: ({ command }) =>
      typeof command === "string" && findExecutedCommands(command).commands.some(fits),
  };
}

/** Tells whether everything that a command runs begins with some words, or only looks. */
export function commandHasPrefix(command: string, prefix: string): boolean {
  return matchesCommand(command, createWordMatcher(`${prefix.trim()} *`));
}

function matchesCommand(command: string, fits: (command: SimpleCommand) => boolean): boolean {
  const { commands, opaque } = findExecutedCommands(command);
  if (opaque || !commands.some(fits)) return false;
  return commands.every((each) => isReadOnlyCommand(each) || (fits(each) && writesNothing(each)));
}

/** A trusted program's output may still be sent into any file. */
function writesNothing({ redirects, assignments }: SimpleCommand): boolean {
  return assignments.length === 0 &&
    redirects.every(({ operator, target }) =>
      operator.startsWith("<") ||
      (target?.literal === true && /^(?:\/dev\/null|[012-])$/.test(target.text))
    );
}

function createWordMatcher(pattern: string): (command: SimpleCommand) => boolean {
  const parts = pattern.trim().split(/\s+/);
  const isOpen = parts.at(-1) === "*";
  const wanted = (isOpen ? parts.slice(0, -1) : parts).map(toWordRegExp);
  return ({ words }) => {
    if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return false;
    return wanted.every((expression, index) => {
      const word = words[index];
      return word !== undefined && word.literal && expression.test(word.text);
    });
  };
}

function toWordRegExp(part: string): RegExp {
  const source = part.split("*").map((piece) => piece.replace(/[\^$\\.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${source.join(".*")}$`, "s");
}

function createPathRule(pattern: string): ArgumentRule {
  const matches = compileGlob(pattern.replace(/^\.\//, ""));
  const fits = ({ path }: JsonObject): boolean => {
    const normal = typeof path === "string" ? normalizePath(path) : undefined;
    return normal !== undefined && matches(normal);
  };
  return { matchesAll: fits, matchesAny: fits };
}

/** Tells whether a path lies in a folder, or is it. */
export function pathHasPrefix(path: string, prefix: string): boolean {
  const [normal, folder] = [normalizePath(path), normalizePath(prefix)];
  if (normal === undefined || folder === undefined) return false;
  return folder === "."
    ? !normal.startsWith("/")
    : normal === folder || normal.startsWith(`${folder}/`);
}

/** A path without `.` and `..`; `undefined` when it leads above where it starts. */
function normalizePath(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  const joined = parts.join("/");
  return path.startsWith("/") ? `/${joined}` : joined || ".";
}
