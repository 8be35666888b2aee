/**
 * The directories in which git keeps the data of a repository.
 *
 * @module
 */

import { isAbsolute, join } from "../platform/paths.ts";
import { readUntrustedText } from "../platform/untrusted_file.ts";

/** Maximum size of a file that names a directory. */
const MAX_LINK_BYTES = 10_000;

/** Finds the directory of a work tree, which has its index; of a worktree or a submodule, `.git` is a file that names it. */
export async function findGitDirectory(root: string): Promise<string> {
  const text = await readLink(root, ".git");
  const [, path] = /^gitdir: (.+?)\r?\n?$/.exec(text) ?? [];
  return path === undefined ? join(root, ".git") : resolve(root, path);
}

/** Finds the directory that a repository shares with its linked worktrees. */
export async function findCommonDirectory(root: string): Promise<string> {
  const directory = await findGitDirectory(root);
  const path = (await readLink(directory, "commondir")).replace(/\r?\n$/, "");
  return path === "" ? directory : resolve(directory, path);
}

async function readLink(directory: string, name: string): Promise<string> {
  const options = { within: directory, maxBytes: MAX_LINK_BYTES };
  return await readUntrustedText(join(directory, name), options) ?? "";
}

function resolve(directory: string, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}
