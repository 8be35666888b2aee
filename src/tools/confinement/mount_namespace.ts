/**
 * A mount namespace in which parts of the writable directories are read-only or hidden. Landlock cannot do that: it grants
 * a directory with all its content.
 *
 * @module
 */

import type { ConfinementPolicy } from "./confinement_policy.ts";
import { ENOENT, getErrno, type Libc, toCString } from "./libc.ts";

const CLONE_NEWNS = 0x20000;
const CLONE_NEWIPC = 0x8000000;
const MS_RDONLY = 1n;
const MS_NOSUID = 2n;
const MS_NODEV = 4n;
const MS_REC = 0x4000n;
const MS_SLAVE = 1n << 19n;

const OPEN_TREE = 428n;
const MOVE_MOUNT = 429n;
const MOUNT_SETATTR = 442n;

const AT_FDCWD = -100n;
const AT_SYMLINK_NOFOLLOW = 0x100n;
const AT_EMPTY_PATH = 0x1000n;
const AT_RECURSIVE = 0x8000n;
const OPEN_TREE_CLONE = 1n;
const OPEN_TREE_CLOEXEC = 0o2000000n;
const MOVE_MOUNT_F_EMPTY_PATH = 4n;

/** `struct mount_attr` with `MOUNT_ATTR_RDONLY` to set. */
const READ_ONLY_ATTRIBUTES = new Uint8Array(32);
READ_ONLY_ATTRIBUTES[0] = 1;

/**
 * Moves this process to namespaces of its own for mounts, and for shared memory and queues, where commands could read the
 * data of other programs. Returns whether the kernel allows that.
 */
export function enterNamespaces(libc: Libc): boolean {
  if (libc.unshare(CLONE_NEWNS | CLONE_NEWIPC) < 0) return false;
  return canMount(libc);
}

/** Whether this process may mount. It still sees new mounts of the system, which does not see those of the process. */
export function canMount(libc: Libc): boolean {
  return libc.mount(null, toCString("/"), null, MS_REC | MS_SLAVE, null) === 0;
}

type ProtectedPaths = Pick<ConfinementPolicy, "writable" | "readOnly" | "masked">;

/** Makes paths read-only and hides others. Directories above them become mounts too, so that they cannot be renamed. */
export function protectPaths(libc: Libc, { writable, readOnly, masked }: ProtectedPaths): void {
  for (const path of listParents([...readOnly, ...masked], writable)) {
    bindPath(libc, { source: path, target: path, attributes: null });
  }
  for (const path of readOnly) {
    bindPath(libc, { source: path, target: path, attributes: READ_ONLY_ATTRIBUTES });
  }
  for (const path of masked) maskPath(libc, path);
}

/** Lists the directories between the writable directories and the paths, outermost first. */
export function listParents(paths: readonly string[], writable: readonly string[]): string[] {
  const parents = paths.flatMap((path) => {
    const names = path.split("/");
    const prefixes = names.slice(1, -1).map((_, index) => names.slice(0, index + 2).join("/"));
    return prefixes.filter((parent) => writable.some((root) => isBelow(parent, root)));
  });
  return [...new Set(parents)].toSorted((a, b) => a.length - b.length);
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory === "/" ? directory : `${directory}/`);
}

interface PathBinding {
  readonly source: string;
  readonly target: string;
  readonly attributes: Uint8Array<ArrayBuffer> | null;
}

/** Mounts a file or directory on another one. Links are not followed, and a missing source is skipped. */
function bindPath(libc: Libc, { source, target, attributes }: PathBinding): void {
  const flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW;
  const tree = libc.syscallPath(OPEN_TREE, AT_FDCWD, toCString(source), flags);
  if (tree < 0n && getErrno(libc) === ENOENT) return;
  checkMount(libc, source, tree);
  if (attributes) {
    const size = BigInt(attributes.length);
    const changed = libc.syscallAttributes(
      MOUNT_SETATTR,
      tree,
      toCString(""),
      AT_EMPTY_PATH | AT_RECURSIVE,
      attributes,
      size,
    );
    checkMount(libc, target, changed);
  }
  const moved = libc.syscallPaths(
    MOVE_MOUNT,
    tree,
    toCString(""),
    AT_FDCWD,
    toCString(target),
    MOVE_MOUNT_F_EMPTY_PATH,
  );
  checkMount(libc, target, moved);
}

/** Puts an empty directory or an empty file in the place of a path. */
function maskPath(libc: Libc, path: string): void {
  const flags = MS_RDONLY | MS_NOSUID | MS_NODEV;
  const [type, options] = ["tmpfs", "size=4k,mode=555"].map(toCString);
  const mounted = libc.mount(type ?? null, toCString(path), type ?? null, flags, options ?? null);
  if (mounted < 0) bindPath(libc, { source: "/dev/null", target: path, attributes: null });
}

function checkMount(libc: Libc, path: string, result: number | bigint): void {
  if (result >= 0) return;
  throw new Error(`the kernel refused to protect ${path} (errno ${getErrno(libc)})`);
}
