/**
 * The operations on files in use, with the names and the behaviour of the `Deno` namespace.
 *
 * @module
 */

/** Status of a file, directory or link. */
export interface FileStatus extends EntryType {
  /** Size in bytes. */
  readonly size: number;
  /** Time of the last modification. */
  readonly mtime: Date | null;
  /** Time of the last change of the status. */
  readonly ctime: Date | null;
  /** Time of the creation; `null` where the file system does not keep it. */
  readonly birthtime: Date | null;
  /** Device of the file system. */
  readonly dev: number;
  /** Identity of the file on its device; `null` where the system has none. */
  readonly ino: number | null;
  /** Number of its names, which are hard links; `null` where the system does not report it. */
  readonly nlink: number | null;
  /** Type and permission bits; `null` on Windows. */
  readonly mode: number | null;
  /** User id of the owner; `null` on Windows. */
  readonly uid: number | null;
  /** Group id of the owner; `null` on Windows. */
  readonly gid: number | null;
  /** Whether it is a named pipe; `null` on Windows. */
  readonly isFifo: boolean | null;
  /** Whether it is a socket; `null` on Windows. */
  readonly isSocket: boolean | null;
  /** Whether it is a character device; `null` on Windows. */
  readonly isCharDevice: boolean | null;
  /** Whether it is a block device; `null` on Windows. */
  readonly isBlockDevice: boolean | null;
}

/** Type of a directory entry. */
interface EntryType {
  /** Whether it is a regular file. */
  readonly isFile: boolean;
  /** Whether it is a directory. */
  readonly isDirectory: boolean;
  /** Whether it is a symbolic link. */
  readonly isSymlink: boolean;
}

/** Entry of a directory. */
export interface NamedEntry extends EntryType {
  /** Last segment of the path. */
  readonly name: string;
}

/** Options for opening a file. Default of each flag: `false`. */
export interface OpenFileOptions {
  /** Opens for reading. */
  readonly read?: boolean;
  /** Opens for writing. */
  readonly write?: boolean;
  /** Opens for writing at the end. */
  readonly append?: boolean;
  /** Removes the content. */
  readonly truncate?: boolean;
  /** Creates the file if it does not exist. */
  readonly create?: boolean;
  /** Creates the file, which must not exist. */
  readonly createNew?: boolean;
  /** Permission bits of a new file, without those of the umask. Default: 0o666. */
  readonly mode?: number;
}

/** Options for writing a text to a file, which is created if it does not exist. */
export interface WriteOptions extends Pick<OpenFileOptions, "append" | "createNew" | "mode"> {}

/** Makes an offset of `seek()` relative to the start of the file. */
export const SEEK_START = 0;

/** An open file with a current position. */
export interface SystemFile extends Disposable {
  /** Reads some bytes at the position; resolves to their number, `null` at the end of the file. */
  read(bytes: Uint8Array): Promise<number | null>;
  /** Reads some bytes at the position and returns their number, `null` at the end of the file. */
  readSync(bytes: Uint8Array): number | null;
  /** Writes some of the bytes; resolves to their number. */
  write(bytes: Uint8Array): Promise<number>;
  /** Writes some of the bytes and returns their number. */
  writeSync(bytes: Uint8Array): number;
  /** Changes the position. */
  seek(offset: number, origin: typeof SEEK_START): Promise<number>;
  /** Changes the position. */
  seekSync(offset: number, origin: typeof SEEK_START): number;
  /** Cuts the file off at a length in bytes, or extends it with zeros. Default: 0. */
  truncateSync(length?: number): void;
  /** Writes the content and status to the disk. */
  sync(): Promise<void>;
  /** Writes the content to the disk. */
  syncData(): Promise<void>;
  /** Reads the status. */
  statSync(): FileStatus;
  /** Sets the times of the last access and modification, in seconds since the epoch. */
  utimeSync(accessed: number, modified: number): void;
  /** Locks the file for this process until it is closed; `false` if it is locked. Only on Deno. */
  tryLockSync?(exclusive: boolean): boolean;
  /** Closes the file. */
  close(): void;
}

/** The permissions of the program that decide about operations on files. */
export interface FilePermissions {
  /** Reads the state of the permission to read the free space of a disk, such as `granted`. */
  querySync(descriptor: { readonly name: "sys"; readonly kind: "statfs" }): {
    readonly state: string;
  };
}

/** The operations on files. They throw the errors of the system. */
export interface FileCalls {
  /** Only on Deno. */
  readonly permissions?: FilePermissions;
  /** Reads the status of a path; follows links. */
  stat(path: string): Promise<FileStatus>;
  /** Reads the status of a path; follows links. */
  statSync(path: string): FileStatus;
  /** Reads the status of a path, or of the link itself. */
  lstat(path: string): Promise<FileStatus>;
  /** Reads the status of a path, or of the link itself. */
  lstatSync(path: string): FileStatus;
  /** Resolves all links of a path. */
  realPath(path: string): Promise<string>;
  /** Resolves all links of a path. */
  realPathSync(path: string): string;
  /** Reads the target of a link. */
  readLink(path: string): Promise<string>;
  /** Reads the target of a link. */
  readLinkSync(path: string): string;
  /** Lists a directory in any order. */
  readDirSync(path: string): Iterable<NamedEntry>;
  /** Reads a file. */
  readFile(path: string): Promise<Uint8Array>;
  /** Reads a file. */
  readFileSync(path: string): Uint8Array;
  /** Reads a file as UTF-8. */
  readTextFile(path: string): Promise<string>;
  /** Reads a file as UTF-8. */
  readTextFileSync(path: string): string;
  /** Writes a text as UTF-8: replaces the content, appends to it, or creates a file that must not exist. */
  writeTextFile(path: string, text: string, options?: WriteOptions): Promise<void>;
  /** Opens a file. Default: for reading. */
  open(path: string, options?: OpenFileOptions): Promise<SystemFile>;
  /** Opens a file. Default: for reading. */
  openSync(path: string, options?: OpenFileOptions): SystemFile;
  /** Creates a directory; with `recursive` also its parents, and an existing directory is no error. */
  mkdir(
    path: string,
    options?: { readonly recursive?: boolean; readonly mode?: number },
  ): Promise<void>;
  /** Creates a directory; with `recursive` also its parents, and an existing directory is no error. */
  mkdirSync(
    path: string,
    options?: { readonly recursive?: boolean; readonly mode?: number },
  ): void;
  /** Creates a directory with a unique name in the directory for temporary files. */
  makeTempDirSync(options: { readonly prefix: string }): string;
  /** Copies a file. */
  copyFile(from: string, to: string): Promise<void>;
  /** Renames a file; replaces the target. */
  rename(from: string, to: string): Promise<void>;
  /** Renames a file; replaces the target. */
  renameSync(from: string, to: string): void;
  /** Removes a file or an empty directory; with `recursive` also the content of a directory. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Removes a file or an empty directory; with `recursive` also the content of a directory. */
  removeSync(path: string, options?: { readonly recursive?: boolean }): void;
  /** Sets the permission bits. */
  chmodSync(path: string, mode: number): void;
  /** Sets the owner. */
  chownSync(path: string, uid: number | null, gid: number | null): void;
}
