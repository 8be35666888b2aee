/**
 * Approval rules: `read_file`, `edit_file(src/**)`, `bash(npm test)`, `bash(git log *)`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { compileGlob, type PathMatcher } from "../../core/ignore/glob.ts";
import { type Concern, coversScript, findConcern, parseCommandPattern } from "./command_rules.ts";
import { type ExecutedCommands, findExecutedCommands } from "./executed_commands.ts";

/** A call, to which rules apply. */
export interface RuledCall {
  /** Name of the tool. */
  readonly name: string;
  /** Arguments. */
  readonly arguments: JsonObject;
  /** The commands that a shell command runs. */
  readonly script?: ExecutedCommands | undefined;
}

/** Creates a call. Its command is analyzed once for all rules. */
export function createRuledCall(name: string, args: JsonObject): RuledCall {
  const { command } = args;
  const script = typeof command === "string" ? findExecutedCommands(command) : undefined;
  return { name, arguments: args, script };
}

/** A parsed rule. */
export interface ApprovalRule {
  /** The rule as written. */
  readonly source: string;
  /** Whether the rule names a tool without a pattern. */
  readonly coversTool: boolean;
  /** Whether the rule, as an allow rule, covers a complete call. */
  readonly covers: (call: RuledCall) => boolean;
  /** Whether the rule, as a deny rule, concerns a part of a call. */
  readonly concerns: (call: RuledCall) => Concern;
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
  const isTool = ({ name }: RuledCall) => name.toLowerCase() === tool.toLowerCase();
  const rule = createArgumentRule(tool, pattern);
  return {
    source,
    coversTool: rule.coversTool,
    covers: (call) => isTool(call) && rule.covers(call),
    concerns: (call) => isTool(call) ? rule.concerns(call) : "none",
  };
}

type ArgumentRule = Omit<ApprovalRule, "source">;

function createArgumentRule(tool: string, pattern: string | undefined): ArgumentRule {
  if (pattern === undefined || pattern === "" || pattern === "*") {
    return { coversTool: true, covers: () => true, concerns: () => "certain" };
  }
  return tool.toLowerCase() === "bash" ? createCommandRule(pattern) : createPathRule(pattern);
}

/** Creates a rule from words. `*` matches further words at the end, and any characters within a word. */
function createCommandRule(source: string): ArgumentRule {
  const pattern = parseCommandPattern(source);
  return {
    coversTool: false,
    covers: ({ script }) => script !== undefined && coversScript(script, pattern),
    concerns: ({ script }) => script === undefined ? "possible" : findConcern(script, pattern),
  };
}

/** Whether every part of a command begins with the words of a prefix, or is harmless. */
export function scriptHasPrefix(script: ExecutedCommands, prefix: string): boolean {
  return coversScript(script, parseCommandPattern(`${prefix.trim()} *`));
}

function createPathRule(pattern: string): ArgumentRule {
  const matches = compileGlob(pattern.replace(/^\.\//, ""));
  const covers = ({ arguments: { path } }: RuledCall): boolean => {
    const normalized = typeof path === "string" ? normalizePath(path) : undefined;
    return normalized !== undefined && matches(normalized);
  };
  return {
    coversTool: false,
    covers,
    concerns: (call) => {
      if (covers(call)) return "certain";
      const { path } = call.arguments;
      return typeof path === "string" && mayMatch(path, matches) ? "possible" : "none";
    },
  };
}

/** Whether a path that leaves the working directory, or is absolute, may match after all. */
function mayMatch(path: string, matches: PathMatcher): boolean {
  const normalized = normalizePath(path);
  if (normalized === undefined) return true;
  if (!normalized.startsWith("/")) return false;
  const names = normalized.slice(1).split("/");
  return names.some((_, index) => matches(names.slice(index).join("/")));
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
