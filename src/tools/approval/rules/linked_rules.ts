/**
 * Rules with paths that lead through links, such as `/tmp` of macOS.
 *
 * @module
 */

import { escapeGlob, GLOB_CHARACTER } from "../../../core/ignore/glob.ts";
import { resolveCanonicalPath } from "../../files/canonical_path.ts";
import { getToolName } from "../../kit/tool_names.ts";
import { parseApprovalRule } from "./approval_rules.ts";
import type { CompiledRules, SourcedRule } from "./rule_set.ts";

/** The canonical path of the working directory; `undefined` when it is not known. */
type WorkingDirectory = string | undefined;

/**
 * Adds to the rules that deny and ask those for the files behind links in their paths: a call is compared by the path of its
 * file, in which no link is left. The links are followed for each call, since they may change.
 */
export async function followRuleLinks(
  rules: CompiledRules,
  directory: WorkingDirectory,
): Promise<CompiledRules> {
  const [ask, deny] = await Promise.all([
    addLinked(rules.ask, directory),
    addLinked(rules.deny, directory),
  ]);
  return ask === rules.ask && deny === rules.deny ? rules : { ...rules, ask, deny };
}

async function addLinked(
  rules: readonly SourcedRule[],
  directory: WorkingDirectory,
): Promise<readonly SourcedRule[]> {
  const linked = await Promise.all(
    rules.filter(hasPath).map((rule) => followLinks(rule, directory)),
  );
  const added = linked.filter((rule) => rule !== undefined);
  return added.length === 0 ? rules : [...rules, ...added];
}

function hasPath({ source, pattern, coversTool }: SourcedRule): boolean {
  return pattern !== undefined && !coversTool &&
    !/^(?:bash|fetch_url|webfetch)$/i.test(getToolName(source).trim());
}

/** Returns the rule for the files behind the links in a path; `undefined` if it has none. */
async function followLinks(
  rule: SourcedRule,
  directory: WorkingDirectory,
): Promise<SourcedRule | undefined> {
  const { pattern = "" } = rule;
  const start = pattern.startsWith("/") ? "/" : directory;
  const names = pattern.split("/").filter((name) => name !== "" && name !== ".");
  const first = names.findIndex((name) => GLOB_CHARACTER.test(name));
  const [known, rest] = first < 0 ? [names, []] : [names.slice(0, first), names.slice(first)];
  // The working directory itself is canonical.
  if (!start?.startsWith("/") || known.length === 0) return undefined;
  const path = [start.replace(/\/$/, ""), ...known].join("/");
  try {
    const canonical = await resolveCanonicalPath(path, "/");
    if (canonical === path) return undefined;
    const target = escapeGlob(canonical.replace(/\/$/, ""));
    return { ...rule, ...parseLinked(rule, [target, ...rest].join("/") || "/") };
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
