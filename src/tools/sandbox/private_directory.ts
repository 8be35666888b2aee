/**
 * The directory of a sandbox for temporary files, caches and outputs of commands.
 *
 * @module
 */

import { readEnvironmentVariable } from "../process/command_environment.ts";
import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";

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

  constructor() {
    const parent = readEnvironmentVariable("TMPDIR") || readEnvironmentVariable("TEMP") || "/tmp";
    this.path = join(system.realPathSync(parent), `swink-${crypto.randomUUID()}`);
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
