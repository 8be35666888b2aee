/**
 * What a person was shown before they approved: the same change, of the same file, is what is then made.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { hashContent } from "../text/content_hash.ts";
import { quotePath } from "../files/file_error.ts";

/** Previews that were not followed by their call are forgotten, the oldest first. */
const MAX_PREVIEWS = 500;

interface PreviewedFile {
  readonly path: string;
  readonly hash: string | undefined;
}

/** Remembers of each preview what the file was. */
export class PreviewedChanges {
  readonly #previews = new Map<string, PreviewedFile>();

  /** Notes that a change with these arguments was shown, made of this content; `undefined` for no file. */
  async record(args: JsonObject, path: string, content: Uint8Array | undefined): Promise<void> {
    const [oldest] = this.#previews.keys();
    if (this.#previews.size >= MAX_PREVIEWS && oldest !== undefined) this.#previews.delete(oldest);
    this.#previews.set(await getKey(args), { path, hash: await hashOrUndefined(content) });
  }

  /**
   * Refuses when the change was shown, and the file is another one by now.
   *
   * @throws {BadRequestError} When it changed since.
   */
  async verify(args: JsonObject, content: Uint8Array | undefined, asked: string): Promise<void> {
    const key = await getKey(args);
    const known = this.#previews.get(key);
    if (!known) return;
    this.#previews.delete(key);
    if (known.hash === await hashOrUndefined(content)) return;
    throw new BadRequestError(
      `${
        quotePath(asked)
      } was changed by something else after the change was approved: read it again, then repeat`,
    );
  }

  /** A change that a tool itself makes is expected by whoever approved another one beside it. */
  async trackWrite(
    path: string,
    before: Uint8Array | undefined,
    after: Uint8Array,
  ): Promise<void> {
    const waiting = [...this.#previews].filter(([, file]) => file.path === path);
    if (waiting.length === 0) return;
    const [was, is] = [await hashOrUndefined(before), await hashOrUndefined(after)];
    for (const [key, file] of waiting) {
      if (file.hash === was) this.#previews.set(key, { path, hash: is });
    }
  }
}

async function hashOrUndefined(content: Uint8Array | undefined): Promise<string | undefined> {
  return content && await hashContent(content);
}

/** The loop hands a copy of the arguments to the preview and another one to the call. */
async function getKey(args: JsonObject): Promise<string> {
  return await hashContent(JSON.stringify(args));
}
