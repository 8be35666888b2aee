/**
 * The tools of a run and the rules for their calls, from `--allowed-tools` and `--disallowed-tools`.
 *
 * @module
 */

import type { AgentTool } from "../../../mod.ts";
import {
  createToolMatcher,
  getToolName,
  resolveAliases,
  resolveDeniedAliases,
} from "../../../src/tools/kit/tool_names.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import { isKnownTool } from "../../settings/known_tools.ts";

/** The tools and the rules of a run, as options and the configuration name them. */
export interface ToolSelection {
  /** Names of the only tools of the run. Default: all tools. */
  readonly tools?: readonly string[];
  /** Rules for calls that need no approval: names, or names with a pattern such as `bash(deno test *)`. */
  readonly allowedTools: readonly string[];
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

/** Options for `resolveToolRules()`. */
export interface ResolveOptions {
  /** Whether rules may name unknown tools. Default: `false`. */
  readonly ignoresUnknown?: boolean;
  /** Whether rules may be from the configuration. Default: `true`. */
  readonly isConfigured?: boolean;
}

const CONFIGURATION_ADVICE = "\nWhere a name of the configuration is written: swink config get";

/**
 * Resolves the options against the available tools.
 *
 * @throws {UsageError} If a rule names an unknown tool, or `tools` has a pattern.
 */
export function resolveToolRules(
  selection: ToolSelection,
  tools: readonly AgentTool[],
  { ignoresUnknown = false, isConfigured = true }: ResolveOptions = {},
): ToolRules {
  const names = tools.map(({ name }) => name);
  const only = selection.tools?.flatMap(resolveAliases) ?? names;
  const allow = selection.allowedTools.flatMap(resolveAliases);
  const deny = selection.disallowedTools.flatMap(resolveDeniedAliases);
  const pattern = only.find((name) => name.includes("("));
  if (pattern !== undefined) {
    throw new UsageError(
      `--tools takes names without patterns, not ${JSON.stringify(pattern)}`,
      "To approve matching calls only: --allowed-tools",
    );
  }
  for (const name of [...only, ...allow, ...deny].map(getToolName)) {
    // Rules of the configuration may be for tools that only other runs have.
    if (ignoresUnknown || names.includes(name) || isKnownTool(name)) continue;
    const message = `Unknown tool ${JSON.stringify(name)}${didYouMean(name, names)}`;
    throw new UsageError(
      message,
      `Tools: ${names.join(", ")}.${isConfigured ? CONFIGURATION_ADVICE : ""}`,
    );
  }
  const isSelected = createNameMatcher(only);
  const isRemoved = createNameMatcher(deny);
  return {
    // A rule with a pattern forbids some calls; a rule without one removes the tool.
    tools: tools.filter(({ name }) => isSelected(name) && !isRemoved(name)),
    allow,
    deny,
  };
}

/** Creates a function that returns whether rules without a pattern are for a tool, by its name or that of its server. */
function createNameMatcher(rules: readonly string[]): (name: string) => boolean {
  const names = new Set(rules);
  const matchers = rules.filter((rule) => /^mcp__[^()]*$/.test(rule)).map(createToolMatcher);
  return (name) => names.has(name) || matchers.some((matches) => matches(name));
}

/** Matches a rule: a name, and a pattern in parentheses that may contain pairs of parentheses. */
const RULE = /[^\s,()]+(?:\((?:[^()]|\([^()]*\))*\))?/g;

/**
 * Splits a list of rules at commas and blanks outside of parentheses.
 *
 * @throws {UsageError} If a parenthesis is not part of a rule: without its pattern, the rule would cover every call.
 */
export function splitRules(list: string): string[] {
  if (!/[()]/.test(list.replaceAll(RULE, ""))) return list.match(RULE) ?? [];
  throw new UsageError(
    `Invalid rule ${JSON.stringify(list)}: its parentheses do not match`,
    'Write the name of a tool, or a name with a pattern: "bash(git log *)"',
  );
}
