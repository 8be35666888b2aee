/**
 * The directory of a sandbox for temporary files, caches and outputs of commands.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { isInWritableDirectory } from "../../platform/writable_directories.ts";
import { isWithin } from "../files/file_rules.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";

/** Returns the first directory for temporary files that is trusted: that of the user, else one of the system. */
function chooseParent(isTrusted: (path: string) => boolean): string {
  const configured = readEnvironmentVariable("TMPDIR") || readEnvironmentVariable("TEMP");
  const own = system.realPathSync(configured || "/tmp");
  if (isTrusted(own)) return own;
  const others = ["/tmp", "/var/tmp", readEnvironmentVariable("XDG_RUNTIME_DIR") ?? ""];
  return others.flatMap(resolveIfExists)
    .find((path) => isTrusted(path) && canCreateDirectory(path)) ?? own;
}

function resolveIfExists(path: string): string[] {
  try {
    return path !== "" && system.statSync(path).isDirectory ? [system.realPathSync(path)] : [];
  } catch {
    return [];
  }
}

/** Whether a directory can be created in another one. In a container, often only that of the user can be written. */
function canCreateDirectory(parent: string): boolean {
  const path = join(parent, `swink-${crypto.randomUUID()}`);
  try {
    system.mkdirSync(path, { mode: 0o700 });
    system.removeSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A private directory in the temporary directory of the system, created on first use. */
export class PrivateDirectory {
  /** Path of the directory. */
  readonly path: string;
  /** Temporary files of commands. */
  readonly temporary: string;
  /** Caches of commands. */
  readonly caches: string;
  /** Complete outputs of commands; commands cannot write here. */
  readonly output: string;
  #created: Promise<void> | undefined;

  /**
   * Chooses the path. The directory is in the first directory for temporary files that commands cannot write: they could
   * replace the files with which this program runs git.
   *
   * @param writable Canonical paths of directories that commands can write, in addition to those of the sandboxes of this
   * process.
   */
  constructor(writable: readonly string[] = []) {
    const parent = chooseParent((path) =>
      !isInWritableDirectory(path) && !writable.some((directory) => isWithin(path, directory))
    );
    this.path = join(parent, `swink-${crypto.randomUUID()}`);
    this.temporary = join(this.path, "tmp");
    this.caches = join(this.path, "cache");
    this.output = join(this.path, "output");
  }

  /** Creates the directory on the first call. */
  create(): Promise<void> {
    this.#created ??= this.#createDirectories();
    return this.#created;
  }

  async #createDirectories(): Promise<void> {
    for (const directory of [this.path, this.temporary, this.caches, this.output]) {
      await system.mkdir(directory, { mode: 0o700 });
    }
  }

  /** Removes the directory with its content as far as possible. */
  async remove(): Promise<void> {
    if (!this.#created) return;
    await this.#created.catch(() => {});
    await system.remove(this.path, { recursive: true }).catch(() => {});
    this.#created = undefined;
  }
}
