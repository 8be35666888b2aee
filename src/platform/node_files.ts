/**
 * The operations on files over `node:fs`.
 *
 * @module
 */

import { getBuiltinModule } from "./builtin_modules.ts";
import type { FileCalls, NamedEntry, OpenFileOptions } from "./file_calls.ts";
import { NodeFile } from "./node_file.ts";
import { toFileStatus } from "./node_file_status.ts";

type Fs = typeof import("node:fs");

const getFs = (): Fs => getBuiltinModule("node:fs");

/** The promises of `node:fs`, asynchronous also if the module does not exist. */
const getAsyncFs = (): Promise<Fs["promises"]> => Promise.resolve().then(() => getFs().promises);

/** Id of an owner that `chown` does not change. */
const UNCHANGED = -1;

/** The operations on files, for Node and Bun. */
export const nodeFiles: FileCalls = {
  stat: async (path) => toFileStatus(await (await getAsyncFs()).stat(path)),
  statSync: (path) => toFileStatus(getFs().statSync(path)),
  lstat: async (path) => toFileStatus(await (await getAsyncFs()).lstat(path)),
  lstatSync: (path) => toFileStatus(getFs().lstatSync(path)),
  realPath: async (path) => await (await getAsyncFs()).realpath(path),
  realPathSync: (path) => getFs().realpathSync.native(path),
  readLink: async (path) => await (await getAsyncFs()).readlink(path),
  readLinkSync: (path) => getFs().readlinkSync(path),
  readDirSync,
  readFile: async (path) => toBytes(await (await getAsyncFs()).readFile(path)),
  readFileSync: (path) => toBytes(getFs().readFileSync(path)),
  readTextFile: async (path) => await (await getAsyncFs()).readFile(path, "utf8"),
  readTextFileSync: (path) => getFs().readFileSync(path, "utf8"),
  async writeTextFile(path, text, { append, createNew, mode } = {}) {
    const flag = append ? "a" : createNew ? "wx" : "w";
    await (await getAsyncFs()).writeFile(path, text, { flag, mode });
  },
  open,
  openSync(path, options = { read: true }) {
    return new NodeFile(getFs().openSync(path, getFlags(options), options.mode), options);
  },
  mkdir: async (path, options) => void await (await getAsyncFs()).mkdir(path, options),
  mkdirSync: (path, options) => void getFs().mkdirSync(path, options),
  makeTempDirSync({ prefix }) {
    return getFs().mkdtempSync(`${getBuiltinModule("node:os").tmpdir()}/${prefix}`);
  },
  copyFile: async (from, to) => await (await getAsyncFs()).copyFile(from, to),
  rename: async (from, to) => await (await getAsyncFs()).rename(from, to),
  renameSync: (from, to) => getFs().renameSync(from, to),
  async remove(path, { recursive = false } = {}) {
    const fs = await getAsyncFs();
    if (recursive) return await fs.rm(path, { recursive });
    await ((await fs.lstat(path)).isDirectory() ? fs.rmdir(path) : fs.unlink(path));
  },
  removeSync(path, { recursive = false } = {}) {
    const fs = getFs();
    if (recursive) return fs.rmSync(path, { recursive });
    if (fs.lstatSync(path).isDirectory()) fs.rmdirSync(path);
    else fs.unlinkSync(path);
  },
  chmodSync: (path, mode) => getFs().chmodSync(path, mode),
  chownSync: (path, uid, gid) => getFs().chownSync(path, uid ?? UNCHANGED, gid ?? UNCHANGED),
};

function readDirSync(path: string): NamedEntry[] {
  return getFs().readdirSync(path, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    isFile: entry.isFile(),
    isDirectory: entry.isDirectory(),
    isSymlink: entry.isSymbolicLink(),
  }));
}

function open(path: string, options: OpenFileOptions = { read: true }): Promise<NodeFile> {
  return new Promise((resolve, reject) => {
    getFs().open(path, getFlags(options), options.mode, (error, descriptor) => {
      if (error) reject(error);
      else resolve(new NodeFile(descriptor, options));
    });
  });
}

function getFlags(options: OpenFileOptions): number {
  const { constants } = getFs();
  const { read = false, write = false, append = false, truncate, create, createNew } = options;
  const isWriting = write || append;
  const access = !isWriting ? constants.O_RDONLY : read ? constants.O_RDWR : constants.O_WRONLY;
  return access |
    (append ? constants.O_APPEND : 0) |
    (truncate ? constants.O_TRUNC : 0) |
    (create || createNew ? constants.O_CREAT : 0) |
    (createNew ? constants.O_EXCL : 0);
}

/** Converts a `Buffer`, whose methods differ from those of its superclass. */
function toBytes({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
