/**
 * The disk, as sessions need it.
 *
 * Listing asks for thousands of small facts, for which synchronous calls are five times as fast; what happens
 * while an agent runs is asynchronous.
 *
 * @module
 */

/** What is known of a file without opening it. */
export interface FileInfo {
  /** Size in bytes. */
  readonly size: number;
  /** Last change, in milliseconds since the epoch. */
  readonly modified: number;
  /** Tells files apart; `null` where the system cannot. */
  readonly inode: number | null;
}

/** A file that only grows. */
export interface AppendableFile {
  /** Appends as many of the bytes as go, and says how many. */
  write(bytes: Uint8Array): Promise<number>;
  /** Resolves when what was written would survive a loss of power. */
  sync(): Promise<void>;
  /** Facts about it. */
  stat(): FileInfo;
  /** Closes it. */
  close(): void;
}

/** A file that is read in parts. */
export interface ReadableFile {
  /** Reads up to so many bytes from an offset; fewer at the end. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Facts about it. */
  stat(): FileInfo;
  /** Closes it. */
  close(): void;
}

/** A file that one process can hold. The system lets go of it when that process ends, however it ends. */
export interface LockableFile {
  /** Holds the file, unless another does. */
  tryLock(): boolean;
  /** Replaces what is written in it. */
  write(text: string): void;
  /** What is written in it. */
  read(): string;
  /** Sets its time of last change, in milliseconds since the epoch. */
  touch(time: number): void;
  /** Facts about it. */
  stat(): FileInfo;
  /** Closes it, and lets go of it. */
  close(): void;
}

/** A disk, as sessions need it. Paths are joined with `/`. Everything may throw the system's errors. */
export interface FileSystem {
  /** Makes a folder and those above it. */
  makeDirectory(path: string): void;
  /** Names of what is in a folder; nothing when there is none. */
  listDirectory(path: string): string[];
  /** Facts about a file, or `undefined` when there is none. */
  stat(path: string): FileInfo | undefined;
  /** The last bytes of a file, at most so many. */
  readEnd(path: string, length: number): Uint8Array<ArrayBuffer>;
  /** Opens a file to read it in parts. */
  openToRead(path: string): Promise<ReadableFile>;
  /** Opens a file that is there to append to it. */
  openToAppend(path: string): Promise<AppendableFile>;
  /** Opens a file to lock it, and makes it if need be. */
  openToLock(path: string): LockableFile;
  /**
   * Writes a file beside another and puts it in that one's place, all or nothing; a loss of power counts only
   * where `sync` is wanted.
   */
  replace(path: string, text: string, options: { readonly sync: boolean }): Promise<void>;
  /** Copies a file. */
  copy(from: string, to: string): Promise<void>;
  /** Gives a file another name, in place of one that has it. */
  rename(from: string, to: string): void;
  /** Removes a file, if it is there. */
  remove(path: string): void;
  /** Resolves when the names in a folder would survive a loss of power, where the system can do that. */
  syncDirectory(path: string): Promise<void>;
  /** Calls a function every so often without keeping the program running; returns what ends that. */
  startInterval(milliseconds: number, run: () => void): () => void;
  /** Id of this process. */
  readonly processId: number;
}
