/**
 * Which tools a run has, and which of their calls pass without a question: what `--allowed-tools` and
 * `--disallowed-tools` say.
 *
 * @module
 */

import type { AgentTool } from "../mod.ts";
import { UsageError } from "./cli_error.ts";
import { findSuggestion } from "./suggestion.ts";

/** What the options say. */
export interface ToolSelection {
  /** The only tools: names, or names with a pattern such as `bash(deno test *)`. All tools when there is no list. */
  readonly allowedTools?: readonly string[];
  /** Tools, or calls of them, that there are not. */
  readonly disallowedTools: readonly string[];
}

/** What follows from it. */
export interface ToolRules {
  /** The tools of the run. */
  readonly tools: readonly AgentTool[];
  /** Calls that pass without a question. To allow a tool is to let it run. */
  readonly allow: readonly string[];
  /** Calls that never pass. */
  readonly deny: readonly string[];
}

/**
 * Reads what the options say about tools.
 *
 * @throws {UsageError} When a tool is named that does not exist.
 */
export function resolveToolRules(wish: ToolSelection, tools: readonly AgentTool[]): ToolRules {
  const { allowedTools: allow, disallowedTools: deny } = wish;
  const names = tools.map(({ name }) => name);
  for (const rule of [...allow ?? [], ...deny]) {
    if (!names.includes(getToolName(rule))) throw createUnknownToolError(getToolName(rule), names);
  }
  const isAllowed = ({ name }: AgentTool) =>
    allow?.some((rule) => getToolName(rule) === name) ?? true;
  return {
    // A rule with a pattern takes some calls away; one without, the tool.
    tools: tools.filter((tool) => isAllowed(tool) && !deny.includes(tool.name)),
    allow: allow ?? [],
    deny,
  };
}

/** Cuts a list of rules at its commas and blanks, those within parentheses aside. */
export function splitRules(list: string): string[] {
  return list.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
}

function getToolName(rule: string): string {
  return rule.replace(/\(.*$/s, "");
}

function createUnknownToolError(name: string, names: readonly string[]): UsageError {
  const suggestion = findSuggestion(name, names);
  const meant = suggestion ? `. Did you mean ${suggestion}?` : "";
  return new UsageError(
    `There is no tool ${JSON.stringify(name)}${meant}`,
    `The tools are ${names.join(", ")}.`,
  );
}
