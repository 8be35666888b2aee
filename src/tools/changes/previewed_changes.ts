/**
 * Previews of file changes, so that a change is made only to the content that the user approved it for.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { quotePath } from "../files/file_error.ts";
import { hashContent } from "../text/content_hash.ts";

/** Maximum number of previews. The oldest are dropped, since their calls were never made. */
const MAX_PREVIEWS = 500;

interface PreviewedFile {
  readonly path: string;
  readonly hash: string | undefined;
}

/** Records the content of the file that each preview was made from. */
export class PreviewedChanges {
  readonly #previews = new Map<string, PreviewedFile>();

  /** Records a preview of a call with these arguments. `content` is `undefined` if the file does not exist. */
  async record(args: JsonObject, path: string, content: Uint8Array | undefined): Promise<void> {
    const [oldest] = this.#previews.keys();
    if (this.#previews.size >= MAX_PREVIEWS && oldest !== undefined) this.#previews.delete(oldest);
    this.#previews.set(await getKey(args), { path, hash: await hashOrUndefined(content) });
  }

  /**
   * Checks that the file has not changed since the call was previewed, and drops the preview.
   *
   * @param displayPath Path of the file in the error message.
   * @returns Whether the call was previewed.
   * @throws {BadRequestError} When the file changed.
   */
  async verify(
    args: JsonObject,
    content: Uint8Array | undefined,
    displayPath: string,
  ): Promise<boolean> {
    const key = await getKey(args);
    const preview = this.#previews.get(key);
    if (!preview) return false;
    this.#previews.delete(key);
    if (preview.hash === await hashOrUndefined(content)) return true;
    throw new BadRequestError(
      `${
        quotePath(displayPath)
      } changed after this change was approved; read the file again and repeat the call`,
    );
  }

  /** Updates the other previews of a file after a tool has written it, so that changes approved together can all be made. */
  async trackWrite(
    path: string,
    before: Uint8Array | undefined,
    after: Uint8Array,
  ): Promise<void> {
    const pending = [...this.#previews].filter(([, file]) => file.path === path);
    if (pending.length === 0) return;
    const [oldHash, newHash] = [await hashOrUndefined(before), await hashOrUndefined(after)];
    for (const [key, file] of pending) {
      if (file.hash === oldHash) this.#previews.set(key, { path, hash: newHash });
    }
  }
}

async function hashOrUndefined(content: Uint8Array | undefined): Promise<string | undefined> {
  return content && await hashContent(content);
}

/** Returns a key by value: the preview and the call get different copies of the arguments. */
async function getKey(args: JsonObject): Promise<string> {
  return await hashContent(JSON.stringify(args));
}
