/**
 * The folder of one sandbox: temporary files, caches and outputs of commands. Made when first needed, gone at the end.
 *
 * @module
 */

import { readEnvironmentVariable } from "../process/command_environment.ts";
import { join } from "../files/paths.ts";

/** A private folder below the system's temporary one. */
export class PrivateDirectory {
  /** The folder itself. */
  readonly path: string;
  /** Where commands put their temporary files. */
  readonly temporary: string;
  /** Where commands keep what they fetch and compile. */
  readonly caches: string;
  /** Where the whole outputs of commands are kept; commands cannot write there. */
  readonly output: string;
  #created: Promise<void> | undefined;

  /** Chooses the paths; nothing is written yet. */
  constructor() {
    this.path = join(Deno.realPathSync(getTemporaryDirectory()), `swink-${crypto.randomUUID()}`);
    this.temporary = join(this.path, "tmp");
    this.caches = join(this.path, "cache");
    this.output = join(this.path, "output");
  }

  /** Makes the folder; once. */
  create(): Promise<void> {
    this.#created ??= this.#createDirectories();
    return this.#created;
  }

  async #createDirectories(): Promise<void> {
    for (const folder of [this.path, this.temporary, this.caches, this.output]) {
      await Deno.mkdir(folder, { mode: 0o700 });
    }
  }

  /** Removes all of it. What resists is left to the system, which clears its temporary folder. */
  async remove(): Promise<void> {
    if (!this.#created) return;
    await this.#created.catch(() => {});
    await Deno.remove(this.path, { recursive: true }).catch(() => {});
    this.#created = undefined;
  }
}

function getTemporaryDirectory(): string {
  return readEnvironmentVariable("TMPDIR") || readEnvironmentVariable("TEMP") || "/tmp";
}
