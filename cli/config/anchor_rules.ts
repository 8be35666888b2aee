/**
 * Rules of a project about paths, for a run in a directory of the project.
 *
 * @module
 */

/** The tools whose rules have paths, also by the names that other agents give them. */
const PATH_TOOLS =
  /^(?:(?:read|write|edit)(?:_file)?|multiedit|notebookedit|list_directory|ls|search_files|grep|glob)$/i;

/**
 * Returns rules that forbid calls, with those about paths also for the root of the project: a path in a rule is relative to
 * the working directory, but the project's file is in its root. A name without `/` is that of files in any directory in it.
 *
 * @param root Absolute path of the project.
 */
export function anchorRules(rules: readonly string[], root: string): readonly string[] {
  return rules.flatMap((rule) => {
    const [, tool = "", pattern = ""] = /^([\w-]+)\s*\((.*)\)$/s.exec(rule.trim()) ?? [];
    const path = pattern.trim().replace(/^(?:\.\/)+/, "");
    const isRelative = PATH_TOOLS.test(tool) && path !== "" && !/^[/~]|^[a-z]:/i.test(path);
    if (!isRelative) return [rule];
    const below = path.includes("/") ? path : `**/${path}`;
    return [rule, `${tool}(${escapeGlob(root)}/${below})`];
  });
}

function escapeGlob(path: string): string {
  return path.replaceAll("\\", "/").replace(/\/$/, "").replace(/[*?[\]{}!]/g, "\\$&");
}
