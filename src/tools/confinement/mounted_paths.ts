/**
 * Other paths of files and directories that are mounted at several places. Landlock grants directories, not their paths: a
 * rule for one of the paths applies to the others, too.
 *
 * @module
 */

import { dirname, getRelativePath, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";

/** A directory of a file system that is mounted. */
interface Mount {
  /** Device of the file system, such as `8:1`. */
  readonly device: string;
  /** Path of the directory in its file system. */
  readonly root: string;
  /** Path at which it is mounted. */
  readonly point: string;
}

/**
 * Lists the further paths of the files and directories at paths. What another mount covers may be among them.
 *
 * @param paths Canonical paths.
 * @param table Mounts in the format of `proc_pid_mountinfo(5)`. Default: those of this process, if the system shows them.
 */
export function listMountedPaths(
  paths: readonly string[],
  table: string = readMountTable(),
): string[] {
  const mounts = parseMountTable(table);
  // Of two mounts at the same place, the later one covers the other.
  const byPoint = new Map(mounts.map((mount) => [mount.point, mount]));
  const byDevice = groupByDevice(mounts);
  const found = paths.flatMap((path) => {
    const mount = findMount(path, byPoint);
    if (!mount) return [];
    const places = byDevice.get(mount.device) ?? [];
    return move(path, { from: mount.point, to: mount.root })
      .flatMap((inside) =>
        places.flatMap(({ root, point }) => move(inside, { from: root, to: point }))
      );
  });
  const known = new Set(paths);
  return [...new Set(found)].filter((path) => !known.has(path));
}

function readMountTable(): string {
  try {
    // deno-lint-ignore swink/untrusted-reads -- the kernel makes this file, and no command can replace it
    return system.readTextFileSync("/proc/self/mountinfo");
  } catch {
    return "";
  }
}

function parseMountTable(table: string): readonly Mount[] {
  return table.split("\n").flatMap((line) => {
    const [, , device, root, point] = line.split(" ");
    if (device === undefined || root === undefined || point === undefined) return [];
    return [{ device, root: unescapePath(root), point: unescapePath(point) }];
  });
}

function groupByDevice(mounts: readonly Mount[]): ReadonlyMap<string, readonly Mount[]> {
  const groups = new Map<string, Mount[]>();
  for (const mount of mounts) {
    const group = groups.get(mount.device) ?? [];
    groups.set(mount.device, group);
    group.push(mount);
  }
  return groups;
}

/** Replaces the octal escapes of blanks, newlines and backslashes. */
function unescapePath(path: string): string {
  return path.replace(
    /\\([0-7]{3})/g,
    (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

function findMount(path: string, mounts: ReadonlyMap<string, Mount>): Mount | undefined {
  for (let point = path;; point = dirname(point)) {
    const mount = mounts.get(point);
    if (mount || point === dirname(point)) return mount;
  }
}

/** Returns where a path in one directory is in another one; nothing if it is not in the first. */
function move(
  path: string,
  { from, to }: { readonly from: string; readonly to: string },
): readonly string[] {
  const rest = getRelativePath(from, path);
  if (rest === undefined) return [];
  return [rest === "" ? to : join(to, rest)];
}
