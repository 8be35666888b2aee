/**
 * Cassette files in memory.
 *
 * @module
 */

import type { CassetteFiles } from "../../src/cassettes/mod.ts";

/** Files in memory and the writes to them. */
export interface MemoryFiles extends CassetteFiles {
  /** Content by path. */
  readonly texts: Map<string, string>;
  /** The successful writes, in order: `replace` or `append`. */
  readonly writes: string[];
}

/** Options for `createMemoryFiles()`. */
export interface MemoryFilesOptions {
  /** Called before each write, which rejects with the error it throws. */
  readonly beforeWrite?: () => void;
}

/** Creates files in memory. */
export function createMemoryFiles(options: MemoryFilesOptions = {}): MemoryFiles {
  const { beforeWrite = () => {} } = options;
  const texts = new Map<string, string>();
  const writes: string[] = [];
  const write = (operation: string, path: string | URL, text: string): Promise<void> => {
    try {
      beforeWrite();
    } catch (error) {
      return Promise.reject(error);
    }
    writes.push(operation);
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

/** Parses the lines of a cassette. */
export function parseLines(
  files: MemoryFiles,
  path: string,
): { readonly [name: string]: unknown }[] {
  const text = files.texts.get(path) ?? "";
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}
