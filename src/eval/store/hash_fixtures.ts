/**
 * Hashes of fixtures, by which a change of their files is recognized.
 *
 * @module
 */

import { encodeHex } from "../../core/text/byte_encoding.ts";
import type { NamedEntry } from "../../platform/file_calls.ts";
import { isAbsolute, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import type { EvalSet } from "../case/eval_case.ts";
import { isReport, readFixture } from "../case/read_fixture.ts";
import { resolveFixture } from "../case/resolve_fixture.ts";
import { hashCanonical } from "../results/audit_trail.ts";

/**
 * Returns a hash over the names and the contents of the files of each fixture, by its name in the set. One that is no
 * readable directory has none, nor has a relative one of a set without a directory.
 */
export async function hashFixtures(set: EvalSet): Promise<Readonly<Record<string, string>>> {
  const names = [...new Set(set.cases.flatMap(({ fixture }) => fixture ?? []))].sort();
  const hashes: [string, string][] = [];
  for (const name of names) {
    // The cases of a set that is no file can have fixtures that a function creates, such as those of tasks.
    if (set.directory === undefined && !isAbsolute(name)) continue;
    try {
      const path = resolveFixture(name, set);
      const entries = system.readDirSync(path);
      hashes.push([name, await hashCanonical(await hashFiles(path, { entries }))]);
    } catch {
      // The runs of the case report why its fixture cannot be read.
    }
  }
  return Object.fromEntries(hashes);
}

/** A path relative to a directory, with the hash of its content; `null` for an entry that is no file. */
type HashedEntry = readonly [path: string, hash: string | null];

async function hashFiles(
  directory: string,
  { entries, prefix = "" }: HashedDirectory,
): Promise<readonly HashedEntry[]> {
  const sorted = [...entries].sort((left, right) => left.name < right.name ? -1 : 1);
  const hashed: HashedEntry[] = [];
  for (const { name, isFile, isDirectory } of sorted) {
    const path = join(directory, name);
    if (isFile && isReport(path)) continue;
    if (!isDirectory) {
      hashed.push([prefix + name, isFile ? await hashFile(path) : null]);
      continue;
    }
    const options = { entries: readFixture(path) ?? [], prefix: `${prefix}${name}/` };
    const content = await hashFiles(path, options);
    // An empty one can be that of the evaluations.
    if (content.length > 0) hashed.push([prefix + name, null], ...content);
  }
  return hashed;
}

/** A directory whose entries are hashed. */
interface HashedDirectory {
  readonly entries: Iterable<NamedEntry>;
  /** Start of the paths in it. Default: empty. */
  readonly prefix?: string;
}

async function hashFile(path: string): Promise<string> {
  const bytes = new Uint8Array(await system.readFile(path));
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
