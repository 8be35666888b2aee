/**
 * What files were before each change, so that a turn can be undone.
 *
 * @module
 */

/** Told of every change that a file tool makes. */
export interface FileJournal {
  /** Notes a change that has just been made; `null` stands for no file. */
  record(
    path: string,
    before: Uint8Array | null,
    after: Uint8Array | null,
  ): Promise<void>;
}
