/**
 * Ignore rules that a directory inherits from its parents.
 *
 * @module
 */

import { type IgnoreRules, parseIgnoreFile } from "../../core/ignore/git_ignore.ts";
import { basename, dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";

/**
 * Reads the rules of the directories from the top of the repository down to the parent, and the repository's
 * `info/exclude`. Returns none outside a repository.
 */
export async function readParentIgnoreRules(directory: string): Promise<IgnoreRules[]> {
  const rules: IgnoreRules[] = [];
  let pathPrefix = "";
  for (let current = directory;; current = dirname(current)) {
    if (current !== directory) {
      rules.unshift(...await readIgnoreFile(`${current}/.gitignore`, pathPrefix));
    }
    const isRepository = await system.lstat(`${current}/.git`).then(() => true, () => false);
    if (isRepository) {
      return [...await readIgnoreFile(`${current}/.git/info/exclude`, pathPrefix), ...rules];
    }
    if (dirname(current) === current) return [];
    pathPrefix = `${basename(current)}/${pathPrefix}`;
  }
}

async function readIgnoreFile(file: string, pathPrefix: string): Promise<IgnoreRules[]> {
  try {
    return [{ ...parseIgnoreFile(await system.readTextFile(file), ""), pathPrefix }];
  } catch {
    return [];
  }
}
