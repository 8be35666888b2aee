/**
 * The names of tools in rules.
 *
 * @module
 */

/** The tools that a name in a rule represents. */
export interface NamedTools {
  /** The tools of which an `allow` rule covers calls. */
  readonly covered: readonly string[];
  /** The tools whose calls a `deny` or `ask` rule concerns. Default: the same. */
  readonly concerned?: readonly string[];
  /** The further tools whose calls such a rule concerns if it has a pattern. Default: none. */
  readonly concernedByPattern?: readonly string[];
}

/**
 * The names that other agents give to the tools. There, a rule that denies reading also denies searching and listing, and
 * one that denies editing denies writing. The errors of an edit quote the file, so that a path which must not be read is not
 * edited.
 */
const ALIASES: Readonly<Record<string, NamedTools>> = {
  Bash: { covered: ["bash"] },
  Read: {
    covered: ["read_file"],
    concerned: ["read_file", "search_files", "list_directory"],
    concernedByPattern: ["edit_file"],
  },
  Write: { covered: ["write_file"] },
  Edit: { covered: ["edit_file"], concerned: ["edit_file", "write_file"] },
  MultiEdit: { covered: ["edit_file"] },
  NotebookEdit: { covered: ["edit_file"] },
  Grep: { covered: ["search_files"] },
  Glob: { covered: ["search_files", "list_directory"] },
  LS: { covered: ["list_directory"] },
  WebFetch: { covered: ["fetch_url"] },
  Task: { covered: ["task"] },
};

/** Returns the tools that a name of another agent represents; `undefined` if it is none. */
export function findAlias(name: string): Required<NamedTools> | undefined {
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  return alias && { concerned: alias.covered, concernedByPattern: [], ...alias };
}

/** Returns the tools that a name of another agent represents in a rule that denies; none if it is no such name. */
export function findConcernedTools(name: string, hasPattern: boolean): readonly string[] {
  const { concerned = [], concernedByPattern = [] } = findAlias(name) ?? {};
  return hasPattern ? [...concerned, ...concernedByPattern] : concerned;
}

/** Replaces the name of another agent in a rule: `Bash(git *)` becomes `bash(git *)`. */
export function resolveAliases(rule: string): string[] {
  return resolveRule(rule, findAlias(getToolName(rule))?.covered);
}

/** Replaces the name of another agent in a rule that denies: `Edit` becomes `edit_file` and `write_file`. */
export function resolveDeniedAliases(rule: string): string[] {
  const name = getToolName(rule);
  return resolveRule(rule, findAlias(name) && findConcernedTools(name, rule !== name));
}

function resolveRule(rule: string, tools: readonly string[] = [getToolName(rule)]): string[] {
  const pattern = rule.slice(getToolName(rule).length);
  return tools.map((tool) => tool + pattern);
}

/** Returns the name of the tool that a rule is for. */
export function getToolName(rule: string): string {
  return rule.replace(/\(.*$/s, "");
}

/** Whether a name is that of a tool which other agents name in another way. */
export function hasAlias(name: string): boolean {
  return Object.values(ALIASES).some(({ covered }) => covered.includes(name));
}

/** The name of a server, whose tools are `mcp__SERVER__TOOL`. */
const SERVER = /^mcp__[a-z0-9-]+(?:_[a-z0-9-]+)*(?:__)?$/;

/**
 * Creates a function that returns whether a name in a rule is that of a tool. Upper and lower case are the same; `*` at the
 * end matches any further characters, and the name of a server the tools of the server.
 */
export function createToolMatcher(name: string): (tool: string) => boolean {
  const pattern = name.toLowerCase();
  const prefix = pattern.endsWith("*")
    ? pattern.slice(0, -1)
    : SERVER.test(pattern)
    ? `${pattern.replace(/__$/, "")}__`
    : undefined;
  return (tool) => {
    const lower = tool.toLowerCase();
    return lower === pattern || (prefix !== undefined && lower.startsWith(prefix));
  };
}
