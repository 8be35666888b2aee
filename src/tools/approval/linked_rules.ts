/**
 * Rules with absolute paths that lead through links, such as `/tmp` of macOS.
 *
 * @module
 */

import { resolveCanonicalPath } from "../files/canonical_path.ts";
import { getToolName } from "../kit/tool_names.ts";
import { parseApprovalRule } from "./approval_rules.ts";
import type { CompiledRules, SourcedRule } from "./rule_set.ts";

/**
 * Adds to the rules that deny and ask those for the files behind links in their paths: a call is compared by the path of its
 * file, in which no link is left. The links are followed for each call, since they may change.
 */
export async function followRuleLinks(rules: CompiledRules): Promise<CompiledRules> {
  const [ask, deny] = await Promise.all([addLinked(rules.ask), addLinked(rules.deny)]);
  return ask === rules.ask && deny === rules.deny ? rules : { ...rules, ask, deny };
}

async function addLinked(rules: readonly SourcedRule[]): Promise<readonly SourcedRule[]> {
  const absolute = rules.filter(hasAbsolutePath);
  if (absolute.length === 0) return rules;
  const linked = await Promise.all(absolute.map(followLinks));
  const added = linked.filter((rule) => rule !== undefined);
  return added.length === 0 ? rules : [...rules, ...added];
}

function hasAbsolutePath({ source, pattern = "" }: SourcedRule): boolean {
  return pattern.startsWith("/") && !/^(?:bash|fetch_url|webfetch)$/i.test(getToolName(source));
}

/** A character with a meaning in patterns. */
const PATTERN = /[*?[\]{}\\!]/;

/** Returns the rule for the files behind the links in a path; `undefined` if it has none. */
async function followLinks(rule: SourcedRule): Promise<SourcedRule | undefined> {
  const names = (rule.pattern ?? "").split("/").slice(1);
  const first = names.findIndex((name) => PATTERN.test(name));
  const [known, rest] = first < 0 ? [names, []] : [names.slice(0, first), names.slice(first)];
  const path = `/${known.filter((name) => name !== "").join("/")}`;
  try {
    const canonical = await resolveCanonicalPath(path, "/");
    if (canonical === path) return undefined;
    const start = canonical.replace(/\/$/, "").replace(/[*?[\]{}\\!]/g, "\\$&");
    const pattern = [start, ...rest].join("/") || "/";
    return { ...rule, ...parseLinked(rule, pattern) };
  } catch {
    // A path that cannot be resolved cannot be read either.
    return undefined;
  }
}

/** Parses a rule with another pattern; it keeps its name in decisions. */
function parseLinked({ source }: SourcedRule, pattern: string): Omit<SourcedRule, "source"> {
  const { source: _, ...rule } = parseApprovalRule(`${getToolName(source).trim()}(${pattern})`);
  return rule;
}
