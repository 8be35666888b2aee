/**
 * What the model last saw of each file, so that it never writes over what it has not seen.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
import { contentHash } from "./content_hash.ts";
import { shown } from "./file_failure.ts";

/** Remembers the hash of each file as it was last read or written by a tool. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>();

  /** Notes that the model knows this content of a file; `null` when it knows that there is none. */
  async note(path: string, content: Uint8Array | null): Promise<void> {
    if (content === null) this.#hashes.delete(path);
    else this.#hashes.set(path, await contentHash(content));
  }

  /**
   * Refuses when the file is no longer as the model last saw it.
   *
   * @throws {BadRequestError} When it changed since.
   */
  async verify(path: string, content: Uint8Array | null, asked: string): Promise<void> {
    const known = this.#hashes.get(path);
    if (known === undefined) return;
    const actual = content === null ? undefined : await contentHash(content);
    if (actual === known) return;
    // The model is told once; what it does next, it does knowing that.
    this.#hashes.delete(path);
    throw new BadRequestError(
      `${shown(asked)} was ${
        actual === undefined ? "removed" : "changed"
      } by something else since it was last read: read it again, then repeat the change`,
    );
  }
}
