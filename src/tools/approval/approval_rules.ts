/**
 * Approval rules: `read_file`, `edit_file(src/**)`, `bash(npm test)`, `bash(git log *)`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { isReadOnlyCommand } from "./command_assessment.ts";
import { compileGlob } from "../../core/ignore/glob.ts";
import { findExecutedCommands } from "./executed_commands.ts";
import type { SimpleCommand } from "./shell_parser.ts";

/** A parsed rule. */
export interface ApprovalRule {
  /** The rule as written. */
  readonly source: string;
  /** Whether the rule, as an allow rule, covers a complete call. */
  readonly matchesAll: (name: string, args: JsonObject) => boolean;
  /** Whether the rule, as a deny rule, matches a part of a call. */
  readonly matchesAny: (name: string, args: JsonObject) => boolean;
}

/**
 * Parses a rule.
 *
 * @throws {BadRequestError} When it is not of the form `tool` or `tool(pattern)`.
 */
export function parseApprovalRule(source: string): ApprovalRule {
  const [, tool, pattern] = /^\s*([\w-]+)\s*(?:\((.*)\))?\s*$/s.exec(source) ?? [];
  if (tool === undefined) {
    throw new BadRequestError(
      `${
        JSON.stringify(source)
      } is not a valid rule: write the name of a tool, optionally with a pattern, such as "bash(git log *)"`,
    );
  }
  // Rules for other agents capitalize the names of tools.
  const isTool = (name: string) => name.toLowerCase() === tool.toLowerCase();
  if (pattern === undefined || pattern === "" || pattern === "*") {
    return { source, matchesAll: isTool, matchesAny: isTool };
  }
  const rule = tool.toLowerCase() === "bash" ? createCommandRule(pattern) : createPathRule(pattern);
  return {
    source,
    matchesAll: (name, args) => isTool(name) && rule.matchesAll(args),
    matchesAny: (name, args) => isTool(name) && rule.matchesAny(args),
  };
}

interface ArgumentRule {
  readonly matchesAll: (args: JsonObject) => boolean;
  readonly matchesAny: (args: JsonObject) => boolean;
}

/** Creates a rule from words. `*` matches further words at the end, and any characters within a word. */
function createCommandRule(pattern: string): ArgumentRule {
  const matches = createWordMatcher(pattern.replace(/:\*$/, " *"));
  return {
    matchesAll: ({ command }) => typeof command === "string" && matchesCommand(command, matches),
    matchesAny: ({ command }) =>
      typeof command === "string" && findExecutedCommands(command).commands.some(matches),
  };
}

/** Whether every part of a command begins with the words of a prefix, or is read-only. */
export function commandHasPrefix(command: string, prefix: string): boolean {
  return matchesCommand(command, createWordMatcher(`${prefix.trim()} *`));
}

function matchesCommand(command: string, matches: (part: SimpleCommand) => boolean): boolean {
  const { commands, opaque } = findExecutedCommands(command);
  if (opaque || !commands.some(matches)) return false;
  return commands.every((part) =>
    isReadOnlyCommand(part) || (matches(part) && !hasSideEffects(part))
  );
}

/** Whether a command assigns variables or redirects output to a file, which no allow rule or grant covers. */
function hasSideEffects({ redirects, assignments }: SimpleCommand): boolean {
  return assignments.length > 0 ||
    !redirects.every(({ operator, target }) =>
      operator.startsWith("<") ||
      (target?.literal === true && /^(?:\/dev\/null|[012-])$/.test(target.text))
    );
}

function createWordMatcher(pattern: string): (command: SimpleCommand) => boolean {
  const parts = pattern.trim().split(/\s+/);
  const isPrefix = parts.at(-1) === "*";
  const expressions = (isPrefix ? parts.slice(0, -1) : parts).map(toWordRegExp);
  return ({ words }) => {
    if (isPrefix ? words.length < expressions.length : words.length !== expressions.length) {
      return false;
    }
    return expressions.every((expression, index) => {
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
  const matchesPath = ({ path }: JsonObject): boolean => {
    const normalized = typeof path === "string" ? normalizePath(path) : undefined;
    return normalized !== undefined && matches(normalized);
  };
  return { matchesAll: matchesPath, matchesAny: matchesPath };
}

/** Whether a path is a directory itself or below it. */
export function pathHasPrefix(path: string, prefix: string): boolean {
  const [normalized, directory] = [normalizePath(path), normalizePath(prefix)];
  if (normalized === undefined || directory === undefined) return false;
  return directory === "."
    ? !normalized.startsWith("/")
    : normalized === directory || normalized.startsWith(`${directory}/`);
}

/** Resolves `.` and `..` in a path; `undefined` when `..` leads above its start. */
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
