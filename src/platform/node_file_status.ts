/**
 * The status of files from `node:fs`.
 *
 * @module
 */

import type { Stats } from "node:fs";
import type { FileStatus } from "./file_calls.ts";
import { getNodeBuild } from "./node_build.ts";

/** Converts the status of a file. The fields that Windows does not have are `null`, as on Deno. */
export function toFileStatus(stats: Stats): FileStatus {
  const hasModes = getNodeBuild().os !== "windows";
  return {
    isFile: stats.isFile(),
    isDirectory: stats.isDirectory(),
    isSymlink: stats.isSymbolicLink(),
    size: stats.size,
    mtime: stats.mtime,
    ctime: stats.ctime,
    birthtime: stats.birthtime,
    dev: stats.dev,
    ino: stats.ino,
    nlink: stats.nlink,
    mode: hasModes ? stats.mode : null,
    uid: hasModes ? stats.uid : null,
    gid: hasModes ? stats.gid : null,
    isFifo: hasModes ? stats.isFIFO() : null,
    isSocket: hasModes ? stats.isSocket() : null,
    isCharDevice: hasModes ? stats.isCharacterDevice() : null,
    isBlockDevice: hasModes ? stats.isBlockDevice() : null,
  };
}
