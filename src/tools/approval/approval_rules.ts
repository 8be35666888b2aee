/**
 * Rules about calls, as people write them: `read_file`, `edit_file(src/**)`, `bash(npm test)`, `bash(git log *)`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { isLooking } from "./command_judge.ts";
import { compileGlob } from "../../core/ignore/glob.ts";
import { commandsRunBy } from "./run_commands.ts";
import type { SimpleCommand } from "./shell_parser.ts";

/** One rule, read. */
export interface ApprovalRule {
  /** The rule as it was written. */
  readonly source: string;
  /** Whether the rule, as one that allows, covers a whole call. */
  readonly covers: (name: string, args: JsonObject) => boolean;
  /** Whether the rule, as one that denies, touches any part of a call. */
  readonly touches: (name: string, args: JsonObject) => boolean;
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
    return { source, covers: isTool, touches: isTool };
  }
  const fits = tool.toLowerCase() === "bash" ? commandRule(pattern) : pathRule(pattern);
  return {
    source,
    covers: (name, args) => isTool(name) && fits.covers(args),
    touches: (name, args) => isTool(name) && fits.touches(args),
  };
}

interface ArgumentRule {
  readonly covers: (args: JsonObject) => boolean;
  readonly touches: (args: JsonObject) => boolean;
}

/** A pattern of words; `*` at the end stands for any more words, within a word for any characters. */
function commandRule(pattern: string): ArgumentRule {
  const fits = wordsMatcher(pattern.replace(/:\*$/, " *"));
  return {
    covers: ({ command }) => typeof command === "string" && coversCommand(command, fits),
    touches: ({ command }) =>
      typeof command === "string" && commandsRunBy(command).commands.some(fits),
  };
}

/** Tells whether everything that a command runs begins with some words, or only looks. */
export function commandHasPrefix(command: string, prefix: string): boolean {
  return coversCommand(command, wordsMatcher(`${prefix.trim()} *`));
}

function coversCommand(command: string, fits: (command: SimpleCommand) => boolean): boolean {
  const { commands, opaque } = commandsRunBy(command);
  if (opaque || !commands.some(fits)) return false;
  return commands.every((each) => isLooking(each) || (fits(each) && writesNothing(each)));
}

/** A trusted program's output may still be sent into any file. */
function writesNothing({ redirects, assignments }: SimpleCommand): boolean {
  return assignments.length === 0 &&
    redirects.every(({ operator, target }) =>
      operator.startsWith("<") ||
      (target?.literal === true && /^(?:\/dev\/null|[012-])$/.test(target.text))
    );
}

function wordsMatcher(pattern: string): (command: SimpleCommand) => boolean {
  const parts = pattern.trim().split(/\s+/);
  const isOpen = parts.at(-1) === "*";
  const wanted = (isOpen ? parts.slice(0, -1) : parts).map(wordPattern);
  return ({ words }) => {
    if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return false;
    return wanted.every((expression, index) => {
      const word = words[index];
      return word !== undefined && word.literal && expression.test(word.text);
    });
  };
}

function wordPattern(part: string): RegExp {
  const source = part.split("*").map((piece) => piece.replace(/[\^$\\.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${source.join(".*")}$`, "s");
}

function pathRule(pattern: string): ArgumentRule {
  const matches = compileGlob(pattern.replace(/^\.\//, ""));
  const fits = ({ path }: JsonObject): boolean => {
    const normal = typeof path === "string" ? normalPath(path) : undefined;
    return normal !== undefined && matches(normal);
  };
  return { covers: fits, touches: fits };
}

/** Tells whether a path lies in a folder, or is it. */
export function pathHasPrefix(path: string, prefix: string): boolean {
  const [normal, folder] = [normalPath(path), normalPath(prefix)];
  if (normal === undefined || folder === undefined) return false;
  return folder === "."
    ? !normal.startsWith("/")
    : normal === folder || normal.startsWith(`${folder}/`);
}

/** A path without `.` and `..`; `undefined` when it leads above where it starts. */
function normalPath(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  const joined = parts.join("/");
  return path.startsWith("/") ? `/${joined}` : joined || ".";
}
