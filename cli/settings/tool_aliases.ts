/**
 * The names of tools in rules.
 *
 * @module
 */

/** The names that other agents give to the tools. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  Bash: ["bash"],
  Read: ["read_file"],
  Write: ["write_file"],
  Edit: ["edit_file"],
  MultiEdit: ["edit_file"],
  Grep: ["search_files"],
  Glob: ["search_files", "list_directory"],
  LS: ["list_directory"],
  Task: ["task"],
};

/** Tools that no other agent has. */
const OWN_TOOLS: readonly string[] = ["skill", "write_plan", "update_step", "structured_output"];

/** Whether a run may have a tool of this name. The tools of servers are known only while they run. */
export function isKnownTool(name: string): boolean {
  const isBuiltIn = Object.values(ALIASES).some((names) => names.includes(name));
  return isBuiltIn || OWN_TOOLS.includes(name) || name.startsWith("mcp__");
}

/** Replaces a well-known name of a tool: `Bash(git *)` becomes `bash(git *)`. */
export function resolveAliases(rule: string): string[] {
  const name = getToolName(rule);
  const resolved = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  return resolved?.map((tool) => tool + rule.slice(name.length)) ?? [rule];
}

/** Returns the name of the tool that a rule is for. */
export function getToolName(rule: string): string {
  return rule.replace(/\(.*$/s, "");
}
