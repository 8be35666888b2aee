/**
 * Contents of files as the model last saw them, so that it does not overwrite changes it has not seen.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { quotePath } from "../files/file_error.ts";
import { hashContent } from "../text/content_hash.ts";

/** Records the hash of each file when a tool reads or writes it. */
export class SeenFiles {
  readonly #hashes = new Map<string, string>();

  /** Records the content that the model now knows. */
  async record(path: string, content: Uint8Array): Promise<void> {
    this.#hashes.set(path, await hashContent(content));
  }

  /**
   * Checks that the model knows the current content. A file that no longer exists passes, and so does one that was never
   * recorded.
   *
   * @returns Whether the current content was recorded.
   * @param displayPath Path of the file in the error message.
   * @throws {BadRequestError} When the file changed after it was recorded.
   */
  async verify(
    path: string,
    content: Uint8Array | undefined,
    displayPath: string,
  ): Promise<boolean> {
    const known = this.#hashes.get(path);
    if (known === undefined || content === undefined) return false;
    if (await hashContent(content) === known) return true;
    // The error informs the model of the change, so the next attempt is allowed.
    this.#hashes.delete(path);
    throw new BadRequestError(
      `${
        quotePath(displayPath)
      } changed since it was last read; read the file again and repeat the change`,
    );
  }
}
