/**
 * Ignore rules that a directory inherits from its parents.
 *
 * @module
 */

import { type IgnoreRules, parseIgnoreFile } from "../../core/ignore/git_ignore.ts";
import { basename, dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { readUntrustedText } from "../../platform/untrusted_file.ts";

/** Maximum size of an ignore file. */
export const MAX_IGNORE_BYTES = 1_000_000;

/**
 * Reads the rules of the directories from the top of the repository down to the parent, and the repository's
 * `info/exclude`. Returns none outside a repository.
 */
export async function readParentIgnoreRules(directory: string): Promise<IgnoreRules[]> {
  const rules: IgnoreRules[] = [];
  let pathPrefix = "";
  for (let current = directory;; current = dirname(current)) {
    if (current !== directory) {
      rules.unshift(...await readIgnoreFile(current, { name: ".gitignore", pathPrefix }));
    }
    const isRepository = await system.lstat(`${current}/.git`).then(() => true, () => false);
    if (isRepository) {
      const exclude = { name: ".git/info/exclude", pathPrefix };
      return [...await readIgnoreFile(current, exclude), ...rules];
    }
    if (dirname(current) === current) return [];
    pathPrefix = `${basename(current)}/${pathPrefix}`;
  }
}

async function readIgnoreFile(
  directory: string,
  { name, pathPrefix }: { readonly name: string; readonly pathPrefix: string },
): Promise<IgnoreRules[]> {
  const options = { within: directory, maxBytes: MAX_IGNORE_BYTES };
  const text = await readUntrustedText(`${directory}/${name}`, options);
  return text === undefined ? [] : [{ ...parseIgnoreFile(text, ""), pathPrefix }];
}

/** The list of ignored files of a repository, which is not in its work tree. */
export interface ExcludeFile {
  /** Root of the repository, to which the patterns are relative. */
  readonly repository: string;
  /** Path of the file. */
  readonly path: string;
}

/** Finds the exclude file of the repository that contains a directory; `undefined` if there is none that can be read. */
export async function findExcludeFile(directory: string): Promise<ExcludeFile | undefined> {
  for (let repository = directory;; repository = dirname(repository)) {
    const isRepository = await system.lstat(`${repository}/.git`).then(() => true, () => false);
    if (isRepository) {
      const path = `${repository}/.git/info/exclude`;
      const options = { within: repository, maxBytes: MAX_IGNORE_BYTES };
      return await readUntrustedText(path, options) === undefined
        ? undefined
        : { repository, path };
    }
    if (dirname(repository) === repository) return undefined;
  }
}
