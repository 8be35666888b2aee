/**
 * What a person was shown before they approved: the same change, of the same file, is what is then made.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { contentHash } from "../text/content_hash.ts";
import { shown } from "../files/file_failure.ts";

/** Previews that were not followed by their call are forgotten, the oldest first. */
const MAX_REMEMBERED = 500;

interface ShownFile {
  readonly path: string;
  readonly hash: string | undefined;
}

/** Remembers of each preview what the file was. */
export class ShownChanges {
  readonly #shown = new Map<string, ShownFile>();

  /** Notes that a change with these arguments was shown, made of this content; `undefined` for no file. */
  async note(args: JsonObject, path: string, content: Uint8Array | undefined): Promise<void> {
    const [oldest] = this.#shown.keys();
    if (this.#shown.size >= MAX_REMEMBERED && oldest !== undefined) this.#shown.delete(oldest);
    this.#shown.set(await keyOf(args), { path, hash: await hashOf(content) });
  }

  /**
   * Refuses when the change was shown, and the file is another one by now.
   *
   * @throws {BadRequestError} When it changed since.
   */
  async verify(args: JsonObject, content: Uint8Array | undefined, asked: string): Promise<void> {
    const key = await keyOf(args);
    const known = this.#shown.get(key);
    if (!known) return;
    this.#shown.delete(key);
    if (known.hash === await hashOf(content)) return;
    throw new BadRequestError(
      `${
        shown(asked)
      } was changed by something else after the change was approved: read it again, then repeat`,
    );
  }

  /** A change that a tool itself makes is expected by whoever approved another one beside it. */
  async follow(
    path: string,
    before: Uint8Array | undefined,
    after: Uint8Array,
  ): Promise<void> {
    const waiting = [...this.#shown].filter(([, file]) => file.path === path);
    if (waiting.length === 0) return;
    const [was, is] = [await hashOf(before), await hashOf(after)];
    for (const [key, file] of waiting) {
      if (file.hash === was) this.#shown.set(key, { path, hash: is });
    }
  }
}

async function hashOf(content: Uint8Array | undefined): Promise<string | undefined> {
  return content && await contentHash(content);
}

/** The loop hands a copy of the arguments to the preview and another one to the call. */
async function keyOf(args: JsonObject): Promise<string> {
  return await contentHash(JSON.stringify(args));
}
