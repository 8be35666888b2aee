/**
 * The files of a task at its commit.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { dirname, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { isOuterPath } from "../case/outer_path.ts";
import { createLocalDirectory } from "../run/case_directory.ts";
import type { PatchTask } from "./patch_task.ts";
import { type GitOptions, runGit } from "./run_git.ts";

/**
 * Checks the commit of a task out into an empty directory, as a repository of one commit: the history after that commit
 * could contain the solution.
 *
 * @throws {Error} If the repository, the commit or a test file does not exist.
 */
export async function checkOutTask(
  { repository, baseCommit, testFiles = [] }: PatchTask,
  directory: string,
): Promise<void> {
  const options = { cwd: directory };
  await runGit(["init", "--quiet", "--template="], options);
  const trusted = await readTrustedDirectories(directory);
  const commit = await resolveCommit(repository, baseCommit, trusted);
  // Git runs in the directory of the run, where a relative path is another one, or an option.
  const source = await system.realPath(repository);
  const fetch = ["fetch", "--quiet", "--depth", "1", ...createUploadOption(trusted)];
  await runGit([...fetch, source, commit], options);
  await runGit(["checkout", "--quiet", "--detach", "FETCH_HEAD"], options);
  // It names the repository, which the agent must not read.
  await system.remove(join(directory, ".git", "FETCH_HEAD"));
  // A misspelled name would leave the tests to the agent.
  for (const path of testFiles) {
    if (!isOuterPath(path) && await isKnown(normalizePath(path), directory)) continue;
    throw new Error(`The commit "${baseCommit}" has no "${path}", which is one of the test files`);
  }
}

/** Returns a path as git writes it, such as `tests` for `./tests/`; an empty one for the directory itself. */
function normalizePath(path: string): string {
  const separator = system.build.os === "windows" ? /[/\\]/ : "/";
  return path.split(separator).filter((name) => name !== "" && name !== ".").join("/");
}

/** Whether the commit has a file or a directory. */
async function isKnown(path: string, cwd: string): Promise<boolean> {
  if (path === "") return false;
  return await runGit(["ls-tree", "--name-only", "HEAD", "--", path], { cwd }) !== "";
}

/**
 * Returns the settings of the user that trust repositories of other owners, as in a container: git reads no other one, and
 * refuses them otherwise. `cwd` is a repository without settings of its own.
 */
async function readTrustedDirectories(cwd: string): Promise<string[]> {
  // As paths, since `~` is unknown to the commands without the settings of the user, which then fail.
  const args = ["config", "--type=path", "--null", "--get-all", "safe.directory"];
  // It fails if there are none.
  const output = await runGit(args, { cwd, hasUserSettings: true }).catch(() => "");
  return output.split("\0").slice(0, -1).map((value) => `safe.directory=${value}`);
}

/** Returns the option that passes settings to the git that reads the other repository. */
function createUploadOption(settings: readonly string[]): string[] {
  if (settings.length === 0) return [];
  const quoted = settings.map((setting) => `-c '${setting.replaceAll("'", "'\\''")}'`);
  return [`--upload-pack=git ${quoted.join(" ")} upload-pack`];
}

async function resolveCommit(
  repository: string,
  name: string,
  settings: readonly string[],
): Promise<string> {
  try {
    const args = ["rev-parse", "--verify", `${name}^{commit}`];
    return (await runGit(args, { cwd: repository, settings })).trim();
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new Error(`There is no commit "${name}" in "${repository}": ${reason}`, { cause });
  }
}

/**
 * Applies a patch of an agent.
 *
 * @throws {Error} If it cannot be applied.
 */
export async function applyPatch(patch: string, options: GitOptions): Promise<void> {
  await runGit(["apply", "--whitespace=nowarn", "-"], { ...options, input: patch });
}

/**
 * Restores the test files of a task, and applies its patch with tests, whose files replace those of the agent.
 *
 * @throws {Error} If a file cannot be restored, or the patch cannot be applied.
 */
export async function prepareTests(
  { testPatch, testFiles = [] }: PatchTask,
  directory: string,
): Promise<void> {
  const patched = testPatch === undefined ? [] : await listPaths(testPatch, directory);
  const paths = [...testFiles.map(normalizePath), ...patched];
  if (paths.length === 0) return;
  // Elsewhere, since git converts files by the `.gitattributes` of their directory, which can be those of the agent.
  const tests = await createLocalDirectory(undefined);
  try {
    const options = { cwd: tests.path, gitDirectory: join(directory, ".git") };
    // The patch is applied by the attributes of the commit, such as those of line ends.
    for (const path of [...await listAttributeFiles(directory), ...paths]) {
      if (!await isKnown(path, directory)) continue;
      await runGit(["checkout", "--quiet", "HEAD", "--", path], options);
    }
    if (testPatch !== undefined) await applyPatch(testPatch, options);
    for (const path of selectOutermost(paths)) await replaceFile(path, tests.path, directory);
  } finally {
    await tests.remove();
  }
}

async function listAttributeFiles(cwd: string): Promise<string[]> {
  const output = await runGit(["ls-tree", "-r", "-z", "--name-only", "HEAD"], { cwd });
  return output.split("\0").filter((path) => /(?:^|\/)\.gitattributes$/.test(path));
}

/** Returns the paths that are not inside of another one. */
function selectOutermost(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}

/** Moves a file or a directory to the place of another one, or removes that if there is none. */
async function replaceFile(path: string, from: string, to: string): Promise<void> {
  // First, since the system would follow a link that the agent has made to another directory.
  await removeObstacle(path, to);
  // Also a directory in the place of a file, and files that the agent has added to a directory.
  await system.remove(join(to, path), { recursive: true }).catch(() => {});
  if (!await system.lstat(join(from, path)).catch(() => undefined)) return;
  await system.mkdir(dirname(join(to, path)), { recursive: true });
  await system.rename(join(from, path), join(to, path));
}

/**
 * Lists the files of a patch; of one that it renames, both names.
 *
 * @throws {Error} If one is outside of the repository.
 */
async function listPaths(patch: string, cwd: string): Promise<readonly string[]> {
  const list = async (...options: string[]) => {
    const args = ["apply", "--numstat", "-z", ...options, "-"];
    const output = await runGit(args, { cwd, input: patch });
    return output.split("\0").filter((line) => line !== "")
      .map((line) => line.split("\t").slice(2).join("\t"));
  };
  const paths = [...new Set([...await list(), ...await list("--reverse")])];
  // Git lists paths outside of the repository, too, and files are removed before it applies, and would refuse, the patch.
  const outer = paths.find((path) => isOuterPath(path) || /^\.git(?:[/\\]|$)/i.test(path));
  if (outer === undefined) return paths;
  throw new Error(`The patch changes "${outer}", which is no file of the repository`);
}

/** Removes the first file or link on the way to a file, where the file needs a directory. */
async function removeObstacle(path: string, cwd: string): Promise<void> {
  let current = cwd;
  for (const name of path.split("/").slice(0, -1)) {
    current = join(current, name);
    const status = await system.lstat(current).catch(() => undefined);
    if (!status) return;
    if (!status.isDirectory) return await system.remove(current);
  }
}
