/**
 * The settings of git repositories: hooks and configuration, which name programs that git runs later, outside the
 * sandbox. They are recorded before a command and restored after it, because the kernel grants a directory with all its
 * content.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { openDirectoryHandle } from "../files/directory_handle.ts";
import { readSmallFile } from "../../platform/small_file.ts";

/** The recorded settings of the repositories in some directories. */
export interface GitSettingsRecord {
  /** Undoes all changes since; resolves to the paths that had changed. */
  restore(): Promise<readonly string[]>;
}

/** Maximum size of a file that is restored. */
const MAX_BYTES = 256 * 1024;

/** Maximum number of files in a repository, and of directories between it and a file. */
const MAX_FILES = 500;
const MAX_DEPTH = 8;

const SETTINGS: ReadonlySet<string> = new Set(["config", "config.worktree"]);
const HOOKS = "hooks";

/** Directories of a repository with repositories of submodules, and with settings of working trees. */
const NESTED: ReadonlySet<string> = new Set(["modules", "worktrees"]);

/** Directories of a repository without settings. */
const CONTENT: ReadonlySet<string> = new Set(["objects", "refs", "logs", "info", "lfs"]);

type SettingsFile =
  | { readonly type: "file"; readonly bytes: Uint8Array; readonly mode: number | null }
  | { readonly type: "other"; readonly target: string };

type SettingsFiles = ReadonlyMap<string, SettingsFile>;

/** Records the settings of the repositories whose `.git` is in one of the directories. Others are not watched. */
export function recordGitSettings(directories: readonly string[]): GitSettingsRecord {
  const repositories = directories.map((directory) => join(directory, ".git")).filter(exists);
  const before = new Map(repositories.map((path) => [path, readSettings(path)]));
  return {
    async restore() {
      const changed: string[] = [];
      for (const [repository, files] of before) {
        changed.push(...await restoreSettings(files, readSettings(repository)));
      }
      return changed;
    },
  };
}

async function restoreSettings(before: SettingsFiles, after: SettingsFiles): Promise<string[]> {
  const added = [...after.keys()].filter((path) => !before.has(path));
  for (const path of added) await tryRestoreFile(path, undefined);
  const changed = [...before].filter(([path, file]) => !isEqual(file, after.get(path)));
  for (const [path, file] of changed) await tryRestoreFile(path, file);
  return [...added, ...changed.map(([path]) => path)];
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
  if (before.type === "other") return after?.type === "other" && after.target === before.target;
  return after?.type === "file" && after.mode === before.mode &&
    after.bytes.length === before.bytes.length &&
    after.bytes.every((byte, index) => byte === before.bytes[index]);
}

function readSettings(repository: string): SettingsFiles {
  const files = new Map<string, SettingsFile>();
  for (const path of findSettings(repository, { depth: 0, isWanted: false })) {
    files.set(path, readSettingsFile(path));
    if (files.size >= MAX_FILES) break;
  }
  return files;
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
  for (const { name, isDirectory } of listDirectory(directory)) {
    const path = join(directory, name);
    const isHooks = name === HOOKS || isWanted;
    const mayContain = isHooks || NESTED.has(name) || (depth > 0 && !CONTENT.has(name));
    if (isDirectory && mayContain) {
      yield* findSettings(path, { depth: depth + 1, isWanted: isHooks });
    } else if (!isDirectory && (isHooks || SETTINGS.has(name) || NESTED.has(name))) yield path;
  }
}

function readSettingsFile(path: string): SettingsFile {
  const bytes = readSmallFile(path, { maxBytes: MAX_BYTES, verifyPath: true });
  try {
    if (bytes) return { type: "file", bytes, mode: system.lstatSync(path).mode };
    return { type: "other", target: system.readLinkSync(path) };
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

function exists(path: string): boolean {
  try {
    system.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
