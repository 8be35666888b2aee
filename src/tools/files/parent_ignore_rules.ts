/**
 * The ignore rules that apply to a directory from outside of it.
 *
 * @module
 */

import { type IgnoreRules, parseIgnoreFile } from "../../core/ignore/git_ignore.ts";
import { basename, dirname } from "./paths.ts";

/**
 * The rules that come from above a folder: of the folders up to the top of its repository, and the repository's own
 * `info/exclude`. Outside of a repository there are none.
 */
export async function readParentIgnoreRules(folder: string): Promise<IgnoreRules[]> {
  const above: IgnoreRules[] = [];
  let way = "";
  for (let current = folder;; current = dirname(current)) {
    if (current !== folder) above.unshift(...await readIgnoreFile(`${current}/.gitignore`, way));
    if (await isRepository(current)) {
      return [...await readIgnoreFile(`${current}/.git/info/exclude`, way), ...above];
    }
    if (dirname(current) === current) return [];
    way = `${basename(current)}/${way}`;
  }
}

async function readIgnoreFile(file: string, above: string): Promise<IgnoreRules[]> {
  try {
    return [{ ...parseIgnoreFile(await Deno.readTextFile(file), ""), pathPrefix: above }];
  } catch {
    return [];
  }
}

async function isRepository(folder: string): Promise<boolean> {
  return await Deno.lstat(`${folder}/.git`).then(() => true, () => false);
}
