/**
 * Approval rules: `read_file`, `edit_file(src/**)`, `bash(npm test)`, `bash(git log *)`, `fetch_url(docs.deno.com)`,
 * `mcp__github__*`.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
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
  const [, tool, pattern] = /^\s*([\w-]+\*?|\*)\s*(?:\((.*)\))?\s*$/s.exec(source) ?? [];
  if (tool === undefined) {
    throw new BadRequestError(
      `${
        JSON.stringify(source)
      } is not a valid rule: write the name of a tool, optionally with a pattern, such as "bash(git log *)"`,
    );
  }
  const isTool = createToolMatcher(tool);
  const rule = tryCreateArgumentRule(source, { tool, pattern });
  return {
    source,
    coversTool: rule.coversTool,
    covers: (call) => isTool(call) && rule.covers(call),
    concerns: (call) => isTool(call) ? rule.concerns(call) : "none",
  };
}

/** Matches the name of a tool; `*` at the end matches any further characters. */
function createToolMatcher(tool: string): (call: RuledCall) => boolean {
  // Rules for other agents capitalize the names of tools.
  const pattern = tool.toLowerCase();
  const prefix = pattern.endsWith("*") ? pattern.slice(0, -1) : undefined;
  return ({ name }) =>
    prefix === undefined ? name.toLowerCase() === pattern : name.toLowerCase().startsWith(prefix);
}

type ArgumentRule = Omit<ApprovalRule, "source">;

function tryCreateArgumentRule(
  source: string,
  { tool, pattern }: { readonly tool: string; readonly pattern: string | undefined },
): ArgumentRule {
  try {
    return createArgumentRule(tool, pattern);
  } catch (error) {
    throw new BadRequestError(
      `${JSON.stringify(source)} is not a valid rule: ${getErrorMessage(error)}`,
    );
  }
}

function createArgumentRule(tool: string, pattern: string | undefined): ArgumentRule {
  if (pattern === undefined || pattern === "" || pattern === "*") {
    return { coversTool: true, covers: () => true, concerns: () => "certain" };
  }
  switch (tool.toLowerCase()) {
    case "bash":
      return createCommandRule(pattern);
    case "fetch_url":
      return createAddressRule(pattern);
    default:
      return createPathRule(pattern);
  }
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

/** Creates a rule from a host and optionally a path: `docs.deno.com`, `*.deno.com`, `deno.com/blog/**`. */
function createAddressRule(pattern: string): ArgumentRule {
  const [host = "", ...names] = pattern.replace(/^https?:\/\//, "").split("/");
  const matchesHost = compileGlob(host.toLowerCase());
  const matchesPath = compileGlob(names.length === 0 ? "**" : names.join("/"));
  const getAddress = ({ arguments: { url } }: RuledCall): URL | null =>
    typeof url === "string" ? URL.parse(url) : null;
  const covers = (call: RuledCall): boolean => {
    const address = getAddress(call);
    return address !== null && matchesHost(address.host) &&
      matchesPath(address.pathname.slice(1) || "index");
  };
  return {
    coversTool: false,
    covers,
    concerns: (call) => covers(call) ? "certain" : getAddress(call) ? "none" : "possible",
  };
}

/** Tools whose `path` is optional. */
const WORKING_DIRECTORY_TOOLS: ReadonlySet<string> = new Set(["list_directory", "search_files"]);

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
      if (typeof path === "string") return mayMatch(path, matches) ? "possible" : "none";
      // Without a path these tools use the working directory, and other tools may use any path.
      return WORKING_DIRECTORY_TOOLS.has(call.name) ? "none" : "possible";
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
