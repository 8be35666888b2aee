/**
 * The tools of a run and the rules for their calls, from `--allowed-tools` and `--disallowed-tools`.
 *
 * @module
 */

import type { AgentTool } from "../../mod.ts";
import { UsageError } from "../host/cli_error.ts";
import { didYouMean } from "../command_line/suggestion.ts";

/** Options for `resolveToolRules()`. */
export interface ToolSelection {
  /** The only tools of the run: names, or names with a pattern such as `bash(deno test *)`. Default: all tools. */
  readonly allowedTools?: readonly string[];
  /** Tools to remove, or calls to forbid. */
  readonly disallowedTools: readonly string[];
}

/** The tools of a run and the rules for their calls. */
export interface ToolRules {
  /** The tools of the run. */
  readonly tools: readonly AgentTool[];
  /** Calls that need no approval. */
  readonly allow: readonly string[];
  /** Calls that are forbidden. */
  readonly deny: readonly string[];
}

/**
 * Resolves the options against the available tools.
 *
 * @throws {UsageError} If a rule names an unknown tool.
 */
export function resolveToolRules(
  { allowedTools: allow, disallowedTools: deny }: ToolSelection,
  tools: readonly AgentTool[],
): ToolRules {
  const names = tools.map(({ name }) => name);
  for (const name of [...allow ?? [], ...deny].map(getToolName)) {
    if (names.includes(name)) continue;
    const message = `Unknown tool ${JSON.stringify(name)}${didYouMean(name, names)}`;
    throw new UsageError(message, `Tools: ${names.join(", ")}.`);
  }
  const allowedNames = allow?.map(getToolName) ?? names;
  return {
    // A rule with a pattern forbids some calls; a rule without one removes the tool.
    tools: tools.filter(({ name }) => allowedNames.includes(name) && !deny.includes(name)),
    allow: allow ?? [],
    deny,
  };
}

/** Splits a list of rules at commas and blanks outside of parentheses. */
export function splitRules(list: string): string[] {
  return list.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
}

function getToolName(rule: string): string {
  return rule.replace(/\(.*$/s, "");
}
