/**
 * The settings of git repositories: hooks and configuration, which name programs that git runs later, outside the
 * sandbox. They are recorded before a command, and read-only for it where the kernel can mount them so. What a command
 * changed or added nevertheless is restored after it, because Landlock grants a directory with all its content.
 *
 * @module
 */

import { pathExists } from "../../platform/path_exists.ts";
import { dirname, isAbsolute, join } from "../../platform/paths.ts";
import { MAX_SMALL_FILE_BYTES, readSmallFile } from "../../platform/small_file.ts";
import { system } from "../../platform/system.ts";
import { openDirectoryHandle } from "../files/directory_handle.ts";
import { isWithin } from "../files/file_rules.ts";

/** The recorded settings of the repositories in some directories. */
export interface GitSettingsRecord {
  /** Files and directories with settings, which can be made read-only. */
  readonly paths: readonly string[];
  /**
   * Undoes all changes since; resolves to the paths that had changed.
   *
   * @param options `withheld` are paths that commands could not change: a change to them is the user's and remains.
   */
  restore(options: { readonly withheld: readonly string[] }): Promise<readonly string[]>;
}

/** Maximum size of a file that is restored. */
const MAX_BYTES = MAX_SMALL_FILE_BYTES;

/** Maximum size of all files that are restored, which are kept in memory. */
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;

/** Maximum number of paths that are made read-only; of the others, changes are undone. */
const MAX_PROTECTED_PATHS = 500;

/** Maximum number of directories between a repository and a file: a path has at most 4,096 characters. */
const MAX_DEPTH = 2_048;

/** Content of the file `commondir` of a working tree. */
const COMMON_DIRECTORY = "../..\n";

/** A file `commondir` names the directory with the configuration. */
const SETTINGS: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir"]);
const HOOKS = "hooks";

/** Directories of a repository with repositories of submodules, and with settings of working trees. */
const NESTED: ReadonlySet<string> = new Set(["modules", "worktrees"]);

/** Directories of a repository without settings. */
const CONTENT: ReadonlySet<string> = new Set(["objects", "refs", "logs", "info", "lfs"]);

/** `large` is a file whose content is not kept, `other` a link, a pipe or a device. */
type SettingsFile =
  | { readonly type: "file"; readonly bytes: Uint8Array; readonly mode: number | null }
  | { readonly type: "directory" }
  | { readonly type: "large" }
  | { readonly type: "other"; readonly target: string };

type SettingsFiles = ReadonlyMap<string, SettingsFile>;

/**
 * Records the settings of the repositories to which the directories belong, if they are in the directories too. Others are
 * not watched.
 */
export function recordGitSettings(directories: readonly string[]): GitSettingsRecord {
  const isInside = (path: string) => directories.some((directory) => isWithin(path, directory));
  const repositories = new Set(directories.flatMap(findRepositories).filter(isInside));
  let capacity = MAX_TOTAL_BYTES;
  const read = (path: string) => {
    const file = readSettingsFile(path, Math.min(MAX_BYTES, capacity));
    if (file.type === "file") capacity -= file.bytes.length;
    return file;
  };
  const before = new Map([...repositories].map((path) => [path, readSettings(path, read)]));
  const candidates = directories.filter((directory) => !isRepository(directory));
  return {
    paths: [...before.values()].flatMap(listProtectablePaths).sort(compareLengths)
      .slice(0, MAX_PROTECTED_PATHS),
    async restore({ withheld }) {
      const isChangeable = (path: string) => !withheld.some((kept) => isWithin(path, kept));
      const changed: string[] = [];
      for (const [repository, files] of before) {
        // A command could add so many files that their contents would not fit into memory.
        const readChanged = (path: string) => readSettingsFile(path, getReadSize(path, files));
        const after = readSettings(repository, readChanged);
        changed.push(...await restoreSettings(files, { after, isChangeable }));
      }
      for (const directory of candidates.filter(isRepository)) {
        changed.push(...await removeSettings(directory));
      }
      return changed;
    },
  };
}

/**
 * Finds the repository of a directory: `.git`, the directory that a link or a file `.git` names, the one with its
 * configuration, and the directory itself, if it is a repository without a working tree.
 */
function findRepositories(directory: string): string[] {
  const dotGit = join(directory, ".git");
  const found = [dotGit, resolveGitFile(dotGit)].filter(pathExists);
  const named = found.map((path) => resolveName(path, readName(join(path, "commondir"))));
  return [...found, ...named, ...(isRepository(directory) ? [directory] : [])].filter(pathExists);
}

/** Resolves `.git`, which may be a link, or a file with the path of the repository. */
function resolveGitFile(dotGit: string): string {
  const [, name = ""] = /^gitdir: (.*)$/s.exec(readName(dotGit)) ?? [];
  return resolveName(dirname(dotGit), name) || resolveName(dotGit, ".");
}

/** Resolves a path that is relative to a directory; an empty one if it does not exist. */
function resolveName(directory: string, name: string): string {
  if (name === "") return "";
  try {
    return system.realPathSync(isAbsolute(name) ? name : join(directory, name));
  } catch {
    return "";
  }
}

/** Reads a file with one path. */
function readName(path: string): string {
  const bytes = readSmallFile(path, { maxBytes: MAX_BYTES, verifyPath: true });
  return new TextDecoder().decode(bytes).replace(/\n+$/, "");
}

/** Lists the directories of hooks, and the files outside of them. */
function listProtectablePaths(settings: SettingsFiles): string[] {
  const hooks = [...settings].flatMap(([path, { type }]) => type === "directory" ? [path] : []);
  const isFile = ({ type }: SettingsFile) => type === "file" || type === "large";
  const files = [...settings].flatMap(([path, file]) => isFile(file) ? [path] : []);
  const isInHooks = (path: string) => hooks.some((directory) => isWithin(path, directory));
  return [...hooks, ...files.filter((path) => !isInHooks(path))];
}

/** Whether git takes a directory for a repository, in which it would run and read settings without a `.git`. */
function isRepository(directory: string): boolean {
  const has = (name: string) => pathExists(join(directory, name));
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** Removes the settings of a directory that has become a repository. */
async function removeSettings(directory: string): Promise<string[]> {
  const paths = [...SETTINGS].map((name) => join(directory, name)).filter(pathExists);
  for (const path of paths) await tryRestoreFile(path, undefined);
  return paths;
}

interface RestoreOptions {
  readonly after: SettingsFiles;
  readonly isChangeable: (path: string) => boolean;
}

async function restoreSettings(
  before: SettingsFiles,
  { after, isChangeable }: RestoreOptions,
): Promise<string[]> {
  const isKnown = (path: string) => (before.get(path)?.type ?? "directory") !== "directory";
  const added = [...after].flatMap(([path, file]) =>
    isKnown(path) || isHarmlessAddition(path, file) || !isChangeable(path) ? [] : [path]
  );
  for (const path of added) await tryRestoreFile(path, undefined);
  const changed = [...before].filter(([path, file]) =>
    file.type !== "directory" && isChangeable(path) && !isEqual(file, after.get(path))
  );
  for (const [path, file] of changed) await tryRestoreFile(path, file);
  return [...added, ...changed.map(([path]) => path)];
}

/** Whether an added setting names no program: a directory for hooks, or what `git worktree add` writes. */
function isHarmlessAddition(path: string, file: SettingsFile): boolean {
  if (file.type === "directory") return true;
  return file.type === "file" && path.endsWith("/commondir") &&
    new TextDecoder().decode(file.bytes) === COMMON_DIRECTORY;
}

/** Returns the maximum size of a file after a command with which it may be unchanged, or harmless. */
function getReadSize(path: string, before: SettingsFiles): number {
  const file = before.get(path);
  if (file?.type === "file") return file.bytes.length;
  return path.endsWith("/commondir") ? COMMON_DIRECTORY.length : 0;
}

/** Restores a file through a directory handle, so that a link in its path does not lead elsewhere. */
async function tryRestoreFile(path: string, file: SettingsFile | undefined): Promise<void> {
  const { directory, name } = splitPath(path);
  try {
    await using handle = await openDirectoryHandle(directory, { create: file !== undefined });
    if (file?.type === "file") {
      const { bytes, mode } = file;
      await handle.replaceFile(name, { bytes, ...(mode !== null && { mode: mode & 0o7777 }) });
    } else await handle.removeFile(name);
  } catch {
    // The path is reported as changed, whether it could be restored or not.
  }
}

function splitPath(path: string): { readonly directory: string; readonly name: string } {
  const index = path.lastIndexOf("/");
  return { directory: path.slice(0, index), name: path.slice(index + 1) };
}

function isEqual(before: SettingsFile, after: SettingsFile | undefined): boolean {
  switch (before.type) {
    case "directory":
    case "large":
      return after?.type === before.type;
    case "other":
      return after?.type === "other" && after.target === before.target;
    case "file":
      return after?.type === "file" && after.mode === before.mode &&
        after.bytes.length === before.bytes.length &&
        after.bytes.every((byte, index) => byte === before.bytes[index]);
  }
}

/** Reads all settings. Without a limit: a command could add so many of them that others would not be read. */
function readSettings(repository: string, read: (path: string) => SettingsFile): SettingsFiles {
  const paths = findSettings(repository, { depth: 0, isWanted: false });
  return new Map([...paths].map((path) => [
    path,
    isDirectory(path) ? { type: "directory" } : read(path),
  ]));
}

function compareLengths(a: string, b: string): number {
  return a.length - b.length;
}

/** Yields the paths of the settings in a directory; also of links in the place of directories with settings. */
function* findSettings(
  directory: string,
  { depth, isWanted }: { readonly depth: number; readonly isWanted: boolean },
): Generator<string> {
  if (!isDirectory(directory)) {
    yield directory;
    return;
  }
  if (depth > MAX_DEPTH) return;
  const entries = listDirectory(directory);
  const isRepository = entries.some(({ name }) => name === "HEAD");
  for (const { name, isDirectory } of entries) {
    const path = join(directory, name);
    const isHooks = name === HOOKS || isWanted;
    const mayContain = isHooks || NESTED.has(name) ||
      (depth > 0 && !(isRepository && CONTENT.has(name)));
    if (isDirectory && name === HOOKS && !isWanted) yield path;
    if (isDirectory && mayContain) {
      yield* findSettings(path, { depth: depth + 1, isWanted: isHooks });
    } else if (!isDirectory && (isHooks || SETTINGS.has(name) || NESTED.has(name))) yield path;
  }
}

function readSettingsFile(path: string, maxBytes: number): SettingsFile {
  try {
    const { isFile, size, mode } = system.lstatSync(path);
    // Not opened: a command may have made many of them.
    if (isFile && size > maxBytes) return { type: "large" };
    const bytes = readSmallFile(path, { maxBytes, verifyPath: true });
    return bytes
      ? { type: "file", bytes, mode }
      : { type: "other", target: system.readLinkSync(path) };
  } catch {
    return { type: "other", target: "" };
  }
}

function listDirectory(path: string) {
  try {
    return [...system.readDirSync(path)];
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  try {
    return system.lstatSync(path).isDirectory;
  } catch {
    return false;
  }
}
