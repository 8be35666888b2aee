/**
 * A disk for cassettes that is not one.
 *
 * @module
 */

import type { CassetteFiles } from "../../src/testing/mod.ts";

/** Files in memory, and how often each was written. */
export interface MemoryFiles extends CassetteFiles {
  /** The texts of the files. */
  readonly texts: Map<string, string>;
  /** What was done, in order: `replace` or `append`, with the length of the text. */
  readonly writes: string[];
}

/** What fails, instead of being done. */
export interface MemoryFilesOptions {
  /** Called before each write; what it throws is the failure. */
  readonly beforeWrite?: () => void;
}

/** Makes files in memory. */
export function createMemoryFiles(options: MemoryFilesOptions = {}): MemoryFiles {
  const { beforeWrite = () => {} } = options;
  const texts = new Map<string, string>();
  const writes: string[] = [];
  const write = (how: string, path: string | URL, text: string): Promise<void> => {
    try {
      beforeWrite();
    } catch (error) {
      return Promise.reject(error);
    }
    writes.push(how);
    texts.set(String(path), text);
    return Promise.resolve();
  };
  return {
    texts,
    writes,
    read: (path) => Promise.resolve(texts.get(String(path))),
    replace: (path, text) => write("replace", path, text),
    append: (path, text) => write("append", path, (texts.get(String(path)) ?? "") + text),
  };
}

/** The lines of a cassette, as JSON. */
export function parseLines(
  files: MemoryFiles,
  path: string,
): { readonly [name: string]: unknown }[] {
  const text = files.texts.get(path) ?? "";
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}
