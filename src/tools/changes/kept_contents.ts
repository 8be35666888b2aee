/**
 * Contents that an undo keeps although the files that had them are restored.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { hashContent } from "../text/content_hash.ts";

/** Maximum file size that is undone; larger than any file that the tools write. */
export const MAX_BYTES = 100_000_000;

/** Maximum number of names that are tried for a file. */
const MAX_NAMES = 100;

/** A file that an undo did not restore or remove. */
export interface LeftFile {
  readonly type: "left";
  readonly path: string;
  readonly reason: string;
}

/** A change whose content may be kept. Contents are hashes. */
interface KeptChange {
  readonly path: string;
  readonly after: string | null;
  readonly keepsAfter?: boolean;
}

/** Storage of contents. */
interface ContentStore {
  readContent(hash: string): Promise<Uint8Array | undefined>;
}

/** Writes the contents that undone entries keep to new files, next to those that had them. */
export async function keepContents(
  files: SandboxFiles,
  store: ContentStore,
  entries: readonly KeptChange[],
): Promise<readonly LeftFile[]> {
  const left: LeftFile[] = [];
  for (const { path, after, keepsAfter } of entries) {
    if (keepsAfter === true && after !== null) {
      left.push(...await keepContent(files, store, { path, after }));
    }
  }
  return left;
}

async function keepContent(
  files: SandboxFiles,
  store: ContentStore,
  { path, after }: { readonly path: string; readonly after: string },
): Promise<readonly LeftFile[]> {
  try {
    const current = await files.readIfExists(path, { maxBytes: MAX_BYTES });
    if (current && await hashContent(current) === after) return [];
    const content = await store.readContent(after);
    if (!content) {
      return [{ type: "left", path, reason: "the replaced content is not in the store" }];
    }
    const name = await findFreeName(files, path);
    await files.write(name, content);
    const reason = "it has the content before the undo, maybe the only copy of a file that is gone";
    return [{ type: "left", path: name, reason }];
  } catch (error) {
    const reason = `the replaced content was not kept: ${getErrorMessage(error)}`;
    return [{ type: "left", path, reason }];
  }
}

async function findFreeName(files: SandboxFiles, path: string): Promise<string> {
  for (let number = 1; number <= MAX_NAMES; number++) {
    const name = `${path}.replaced${number === 1 ? "" : number}`;
    if (await files.getKind(name) === undefined) return name;
  }
  throw new Error(`the names beginning with ${path}.replaced are in use`);
}
