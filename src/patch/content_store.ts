/**
 * Stores the contents of many files in one file, which is ten times as fast as a copy of each file.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { SEEK_START, type SystemFile } from "../platform/file_calls.ts";
import { join } from "../platform/paths.ts";
import { system } from "../platform/system.ts";
import { readTreeFile } from "./read_tree_file.ts";

/** Position of a content in the store. */
export interface StoredContent {
  /** Index of the first byte. */
  readonly offset: number;
  /** Length in bytes. */
  readonly length: number;
}

/** A temporary file that contents are appended to. Disposing it removes the file. */
export class ContentStore implements Disposable {
  /** Temporary directory of the file. */
  readonly directory: string;
  readonly #file: SystemFile;
  #length = 0;

  /** Creates an empty store in a new temporary directory. */
  constructor() {
    this.directory = system.realPathSync(system.makeTempDirSync({ prefix: "swink-before-" }));
    const path = join(this.directory, "contents");
    this.#file = system.openSync(path, { createNew: true, read: true, write: true });
  }

  /**
   * Appends the content of a file; resolves to `undefined` if it cannot be read. Rejects if the store cannot be written.
   */
  async add(path: string, signal?: AbortSignal): Promise<StoredContent | undefined> {
    const content = await readTreeFile(path, signal);
    return content && this.#append(content);
  }

  #append(content: Uint8Array): StoredContent {
    const offset = this.#length;
    this.#file.seekSync(offset, SEEK_START);
    for (let written = 0; written < content.length;) {
      written += this.#file.writeSync(content.subarray(written));
    }
    this.#length += content.length;
    return { offset, length: content.length };
  }

  /** Reads a content. @throws {BadRequestError} When another process truncated the file. */
  read({ offset, length }: StoredContent): Uint8Array {
    const content = new Uint8Array(length);
    this.#file.seekSync(offset, SEEK_START);
    for (let bytesRead = 0; bytesRead < length;) {
      const count = this.#file.readSync(content.subarray(bytesRead));
      if (count === null) {
        throw new BadRequestError(
          `The snapshot in ${this.directory} was truncated by another process`,
        );
      }
      bytesRead += count;
    }
    return content;
  }

  /** Removes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
    try {
      system.removeSync(this.directory, { recursive: true });
    } catch {
      // Another process has removed the directory.
    }
  }
}
