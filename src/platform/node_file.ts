/**
 * Open files over descriptors of `node:fs`.
 *
 * @module
 */

import { getBuiltinModule } from "./builtin_modules.ts";
import type { FileStatus, OpenFileOptions, SystemFile } from "./file_calls.ts";
import { toFileStatus } from "./node_file_status.ts";

/** An open file. It keeps the position itself, since `node:fs` cannot change that of a descriptor. */
export class NodeFile implements SystemFile {
  readonly #fs = getBuiltinModule("node:fs");
  readonly #descriptor: number;
  readonly #appends: boolean;
  #position = 0;

  /** Creates a file from a descriptor and the options that it was opened with. */
  constructor(descriptor: number, { append = false }: OpenFileOptions) {
    this.#descriptor = descriptor;
    this.#appends = append;
  }

  read(bytes: Uint8Array): Promise<number | null> {
    return new Promise((resolve, reject) => {
      this.#fs.read(this.#descriptor, bytes, 0, bytes.length, this.#position, (error, count) => {
        if (error) reject(error);
        else resolve(this.#advance(count) || (bytes.length === 0 ? 0 : null));
      });
    });
  }

  readSync(bytes: Uint8Array): number | null {
    const count = this.#fs.readSync(this.#descriptor, bytes, 0, bytes.length, this.#position);
    return this.#advance(count) || (bytes.length === 0 ? 0 : null);
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#fs.write(
        this.#descriptor,
        bytes,
        0,
        bytes.length,
        this.#writeOffset,
        (error, count) => {
          if (error) reject(error);
          else resolve(this.#advance(count));
        },
      );
    });
  }

  writeSync(bytes: Uint8Array): number {
    const { length } = bytes;
    return this.#advance(
      this.#fs.writeSync(this.#descriptor, bytes, 0, length, this.#writeOffset),
    );
  }

  seek(offset: number): Promise<number> {
    return Promise.resolve(this.seekSync(offset));
  }

  seekSync(offset: number): number {
    return this.#position = offset;
  }

  truncateSync(length = 0): void {
    this.#fs.ftruncateSync(this.#descriptor, length);
  }

  sync(): Promise<void> {
    return this.#run((done) => this.#fs.fsync(this.#descriptor, done));
  }

  syncData(): Promise<void> {
    return this.#run((done) => this.#fs.fdatasync(this.#descriptor, done));
  }

  statSync(): FileStatus {
    return toFileStatus(this.#fs.fstatSync(this.#descriptor));
  }

  utimeSync(accessed: number, modified: number): void {
    this.#fs.futimesSync(this.#descriptor, accessed, modified);
  }

  close(): void {
    this.#fs.closeSync(this.#descriptor);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Where to write; `null` at the end. */
  get #writeOffset(): number | null {
    return this.#appends ? null : this.#position;
  }

  #advance(count: number): number {
    this.#position += count;
    return count;
  }

  #run(start: (done: (error: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      start((error) => error ? reject(error) : resolve());
    });
  }
}
