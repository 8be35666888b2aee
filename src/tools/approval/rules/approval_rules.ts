/**
 * Approval rules: `read_file`, `edit_file(src/**)`, `bash(npm test)`, `bash(git log *)`, `fetch_url(docs.deno.com)`,
 * `mcp__github__*`.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../../core/errors/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { createToolMatcher, findAlias, findConcernedTools } from "../../kit/tool_names.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import {
  type ExecutedCommands,
  findExecutedCommands,
  mayChangeDirectory,
} from "../commands/executed_commands.ts";
import type { Concern } from "../patterns/concern.ts";
import {
  type CallPath,
  createPathRule,
  findCallPath,
  findWorkingDirectory,
  pathHasPrefix,
} from "../patterns/path_rules.ts";
import { findNamedPath } from "../reads/named_paths.ts";
import { createAddressRule } from "./address_rules.ts";
import { findConcern } from "./command_concern.ts";
import { coversPart, coversScript, listUncovered } from "./command_coverage.ts";
import { type CommandPattern, coversAnyCommand, parseCommandPattern } from "./command_pattern.ts";

/** A call, to which rules apply. */
export interface RuledCall {
  /** Name of the tool. */
  readonly name: string;
  /** Arguments. */
  readonly arguments: JsonObject;
  /** The commands that a call of `bash` runs. */
  readonly script?: ExecutedCommands | undefined;
  /** Whether an earlier command may have changed the working directory, to which a path of a program is relative. */
  readonly isMoved?: boolean | undefined;
  /** Whether the sandbox confines the commands of a call of `bash`. Default: `true`. */
  readonly isConfined?: boolean | undefined;
  /** Whether a call of `bash` may show all files of a directory, about which the gate asks. Default: `false`. */
  readonly isSearch?: boolean | undefined;
  /** Canonical path of the directory in which a shell starts; `undefined` when it is not known. */
  readonly workingDirectory?: string | undefined;
  /** The path of a call of another tool. */
  readonly path?: CallPath | undefined;
}

/**
 * Creates a call. Its command is analyzed, and its path resolved, once for all rules.
 *
 * @param files The files of the sandbox. Without them, rules compare paths as they are written.
 */
export async function createRuledCall(
  call: { readonly name: string; readonly arguments: JsonObject },
  files?: Sandbox["files"],
): Promise<RuledCall> {
  if (!isBash(call)) return { ...call, path: await findCallPath(call, files) };
  const { command } = call.arguments;
  const script = typeof command === "string" ? findExecutedCommands(command) : undefined;
  return { ...call, script, workingDirectory: await findWorkingDirectory(files) };
}

/** Rules for other agents capitalize the names of tools. */
function isBash({ name }: { readonly name: string }): boolean {
  return name.toLowerCase() === "bash";
}

/** A parsed rule. */
export interface ApprovalRule {
  /** The rule as written. */
  readonly source: string;
  /** The pattern of its arguments, if it has one. */
  readonly pattern: string | undefined;
  /** Whether the rule covers all calls of a tool. */
  readonly coversTool: boolean;
  /** The commands of `bash` that the rule is for, if it is not for other calls. */
  readonly commands?: CommandPattern | undefined;
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
  const [, tool, pattern] = /^([\w-]+\*?|\*)\s*(?:\((.*)\))?$/s.exec(source.trim()) ?? [];
  if (tool === undefined) {
    throw new BadRequestError(
      `${
        JSON.stringify(source)
      } is not a valid rule: write the name of a tool, optionally with a pattern, such as "bash(git log *)"`,
    );
  }
  const alias = findAlias(tool);
  const covers = createCallMatcher([tool, ...alias?.covered ?? []]);
  const concerns = createCallMatcher([
    tool,
    ...findConcernedTools(tool, pattern !== undefined),
  ]);
  const [kind = tool] = alias?.covered ?? [];
  const rule = tryCreateArgumentRule(source, { tool: kind, pattern });
  return {
    source,
    pattern: pattern?.trim(),
    coversTool: rule.coversTool,
    commands: rule.commands,
    covers: (call) => covers(call) && rule.covers(call),
    concerns: (call) => {
      if (concerns(call)) return rule.concerns(call);
      return isBash(call) && concerns(READING) ? rule.findNamed(call) : "none";
    },
  };
}

function createCallMatcher(names: readonly string[]): (call: RuledCall) => boolean {
  const matchers = names.map(createToolMatcher);
  return ({ name }) => matchers.some((matches) => matches(name));
}

interface ArgumentRule extends Omit<ApprovalRule, "source" | "pattern"> {
  /** Whether a call of `bash` names a path of the rule. */
  readonly findNamed: (call: RuledCall) => Concern;
}

/** A rule that concerns this call also concerns commands that name its paths. */
const READING: RuledCall = { name: "read_file", arguments: {} };

const findNothing = (): Concern => "none";

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

function createArgumentRule(tool: string, pattern = "*"): ArgumentRule {
  const text = pattern.trim();
  if (text === "" || text === "*") return TOOL_RULE;
  switch (tool.toLowerCase()) {
    case "bash":
      return createCommandRule(text);
    case "fetch_url": {
      const { covers, concerns } = createAddressRule(text);
      return {
        coversTool: false,
        covers: (call) => covers(call.arguments.url),
        concerns: (call) => concerns(call.arguments.url),
        findNamed: findNothing,
      };
    }
    default: {
      const rule = createPathRule(text);
      const { covers, concerns } = rule;
      return {
        coversTool: false,
        covers: ({ path }) => covers(path),
        concerns: ({ path }) => concerns(path),
        findNamed: ({ script, workingDirectory, isMoved = false }) =>
          script ? findNamedPath(script, rule, { workingDirectory, isMoved }) : "none",
      };
    }
  }
}

/** A rule for all calls of a tool. */
const TOOL_RULE: ArgumentRule = {
  coversTool: true,
  covers: () => true,
  concerns: () => "certain",
  findNamed: findNothing,
};

/** Creates a rule from words. `*` matches further words at the end, and any characters within a word. */
function createCommandRule(source: string): ArgumentRule {
  const pattern = parseCommandPattern(source);
  if (coversAnyCommand(pattern)) return TOOL_RULE;
  return {
    coversTool: false,
    commands: pattern,
    covers: (call) => coversCommand(call, [pattern]),
    concerns: ({ script }) => script === undefined ? "possible" : findConcern(script, pattern),
    findNamed: findNothing,
  };
}

/** Whether a call of `bash` begins with a prefix, or that of another tool is for a path in the directory of a prefix. */
export function callHasPrefix(call: RuledCall, prefix: string): boolean {
  const { path } = call;
  if (isBash(call)) return commandHasPrefix(call, prefix);
  return path !== undefined && pathHasPrefix(path, prefix);
}

/** Whether every part of a command begins with the words of a prefix, or is harmless. */
function commandHasPrefix(call: RuledCall, prefix: string): boolean {
  const pattern = parsePrefix(prefix);
  return pattern !== undefined && coversCommand(call, [pattern]);
}

/**
 * Returns the pattern of the commands that begin with the words of a prefix, without their quotes. In a prefix `*` matches
 * nothing.
 */
export function parsePrefix(prefix: string): CommandPattern | undefined {
  if (prefix.trim() === "" || prefix.includes("*")) return undefined;
  return { words: splitPrefix(prefix.trim()), isPrefix: true };
}

/** A word behind a prefix, which is a word of the same command unless the prefix ends it or is more than one command. */
const END = "END";

/**
 * Returns the words of a prefix. One that is not the beginning of a plain command covers none, such as `time`, behind which any
 * command may follow.
 */
function splitPrefix(prefix: string): readonly string[] {
  const { commands: [command], opaque, plain } = findExecutedCommands(`${prefix} ${END}`);
  const { words = [], assignments = [], redirects = [] } = command ?? {};
  const isPlain = plain && !opaque && assignments.length === 0 && redirects.length === 0 &&
    words.every(({ literal }) => literal) && words.length > 1 && words.at(-1)?.text === END;
  return isPlain ? words.slice(0, -1).map(({ text }) => text) : prefix.split(/\s+/);
}

function coversCommand(
  { script, isMoved = false, isConfined = true, isSearch = false }: RuledCall,
  patterns: readonly CommandPattern[],
): boolean {
  return script !== undefined && coversScript(script, patterns, { isMoved, isConfined, isSearch });
}

/**
 * Finds the rules for commands that, as allow rules, together cover a call of `bash`, such as those for `git add` and for
 * `git commit`. Returns an empty list if they do not.
 */
export function findCoveringRules<Rule extends Pick<ApprovalRule, "commands">>(
  rules: readonly Rule[],
  call: RuledCall,
): readonly Rule[] {
  const { script } = call;
  const patterns = rules.flatMap(({ commands }) => commands ?? []);
  if (!script || !coversCommand(call, patterns)) return [];
  return rules.filter(({ commands }) => commands && coversPart(script, commands));
}

/**
 * Returns a call of `bash` that rules cover without the commands that they are for, which leaves those that are harmless;
 * `undefined` if none is left.
 */
export function getHarmlessPart(
  rules: readonly Pick<ApprovalRule, "commands">[],
  call: RuledCall,
): RuledCall | undefined {
  const { script } = call;
  if (!script) return undefined;
  const others = listUncovered(script, rules.flatMap(({ commands }) => commands ?? []));
  if (others.length === 0) return undefined;
  // They run where the commands before them have moved the shell.
  const commands = script.commands.filter((command) =>
    others.includes(command) || mayChangeDirectory({ commands: [command], opaque: false })
  );
  const words = commands.flatMap((command) => [
    ...command.words,
    ...command.redirects.flatMap(({ target }) => target ?? []),
  ]);
  return { ...call, script: { ...script, commands, words, launched: [] } };
}
