/**
 * Parses the hooks of a configuration file.
 *
 * @module
 */

import { resolveAliases } from "../../src/tools/kit/tool_names.ts";
import { didYouMean } from "../command_line/suggestion.ts";
import { isKnownTool } from "../settings/known_tools.ts";
import { type Hook, HOOK_EVENTS, type HookEvent } from "./hook.ts";

/** The hooks of a file, and what is wrong with others, as sentences without a full stop. */
export interface ParsedHooks {
  /** The valid hooks. */
  readonly hooks: readonly Hook[];
  /** The problems. An unknown event is a warning: a later version may have it. */
  readonly problems: readonly { readonly type: "warning" | "error"; readonly message: string }[];
}

const DEFAULT_SECONDS = 60;

/** Maximum time that timers of the runtime can wait. A longer one would end at once. */
export const MAX_MS = 2 ** 31 - 1;

/** Parses the table `hooks`, which has a list of hooks per event. */
export function parseHooks(table: unknown): ParsedHooks {
  if (!isTable(table)) return createProblem("hooks must be a table, such as [[hooks.PreToolUse]]");
  const parsed = Object.entries(table).map(([name, list]) => parseEvent(name, list));
  return {
    hooks: parsed.flatMap(({ hooks }) => hooks),
    problems: parsed.flatMap(({ problems }) => problems),
  };
}

function parseEvent(name: string, list: unknown): ParsedHooks {
  const event = HOOK_EVENTS.find((known) => known === name);
  if (!event) {
    const message = `Unknown hook ${JSON.stringify(name)}${didYouMean(name, HOOK_EVENTS)}`;
    return { hooks: [], problems: [{ type: "warning", message }] };
  }
  if (!Array.isArray(list)) {
    return createProblem(`hooks.${event} must be a list: write [[hooks.${event}]]`);
  }
  const parsed = list.map((item) => parseHook(event, item));
  const hooks = parsed.filter((hook) => typeof hook !== "string");
  const errors = parsed.filter((hook) => typeof hook === "string");
  return {
    hooks,
    problems: [
      ...errors.map((message) => ({ type: "error", message }) as const),
      ...hooks.filter(isUnused).map(({ matcher }) => {
        const message = `matcher ${JSON.stringify(matcher)} of hooks.${name} matches no tool`;
        return { type: "warning", message } as const;
      }),
    ],
  };
}

/** Whether a matcher has only names that no tool has. */
function isUnused({ event, matcher = "" }: Hook): boolean {
  if (event !== "PreToolUse" && event !== "PostToolUse") return false;
  const names = splitMatcher(matcher).flatMap(resolveAliases);
  return !names.some((name) => name === "" || name.includes("*") || isKnownTool(name));
}

/** Returns the patterns of a matcher. */
export function splitMatcher(matcher: string): string[] {
  return matcher.split("|").map((part) => part.trim());
}

/** Parses a hook; returns what is wrong with it as a string. */
function parseHook(event: HookEvent, item: unknown): Hook | string {
  const name = `hooks.${event}`;
  if (!isTable(item)) return `${name} must be a list of tables: write [[${name}]]`;
  const { command, matcher, timeout = DEFAULT_SECONDS, ...others } = item;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    return `Unknown key ${JSON.stringify(unknown)} in ${name}${
      didYouMean(unknown, ["command", "matcher", "timeout"])
    }`;
  }
  if (typeof command !== "string" || command.trim() === "") return `${name} needs a command`;
  if (matcher !== undefined && typeof matcher !== "string") {
    return `matcher of ${name} must be a string`;
  }
  if (typeof timeout !== "number" || !(timeout > 0)) {
    return `timeout of ${name} must be a number of seconds above 0`;
  }
  // Other agents write regular expressions; a matcher that is never true would switch a guard off.
  const patterns = matcher?.replaceAll(".*", "*");
  if (patterns !== undefined && !/^[\w\s*|-]*$/.test(patterns)) {
    return `matcher of ${name} must be names of tools, with * for any characters, separated by |`;
  }
  const timeoutMs = Math.min(timeout * 1_000, MAX_MS);
  return { event, command, timeoutMs, ...(patterns !== undefined && { matcher: patterns }) };
}

/** Whether a value of TOML is a table. */
export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date);
}

function createProblem(message: string): ParsedHooks {
  return { hooks: [], problems: [{ type: "error", message }] };
}
