/**
 * The directories in which agents work on cases.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { NamedEntry } from "../../platform/file_calls.ts";
import { basename, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { isReport, readFixture } from "../case/read_fixture.ts";
import { DIRECTORY_PREFIX } from "../recording/normalize_text.ts";

/** The directory of one run. */
export interface CaseDirectory {
  /** Absolute path. */
  readonly path: string;
  /** Removes the directory with its content. */
  remove(): Promise<void>;
}

/** Port: creates the directory of a run, with a copy of a fixture or empty. */
export type CreateCaseDirectory = (
  fixture: string | undefined,
  options: CaseDirectoryOptions,
) => Promise<CaseDirectory>;

/** Options for the directory of a run. */
export interface CaseDirectoryOptions {
  /** Path of the recorded run, which is used again if possible. Default: none. */
  readonly recordedPath?: string | undefined;
}

/** Creates a directory in that for temporary files. Only files and directories of a fixture are copied. */
export async function createLocalDirectory(
  fixture: string | undefined,
  { recordedPath }: CaseDirectoryOptions = {},
): Promise<CaseDirectory> {
  const path = createAgain(recordedPath) ??
    system.realPathSync(system.makeTempDirSync({ prefix: DIRECTORY_PREFIX }));
  const remove = () => removeDirectory(path);
  try {
    if (fixture !== undefined) await copyFixture(fixture, path);
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

/**
 * Creates the directory of a recorded run, since its model may use the path; `undefined` if that is not possible, such as
 * while another replay uses it.
 */
function createAgain(path: string | undefined): string | undefined {
  if (path === undefined || !basename(path).startsWith(DIRECTORY_PREFIX)) return undefined;
  try {
    system.mkdirSync(path, { mode: 0o700 });
    return path;
  } catch {
    return undefined;
  }
}

async function copyFixture(fixture: string, path: string): Promise<void> {
  if (!await isDirectory(fixture)) {
    throw new BadRequestError(`The fixture "${fixture}" is not a directory, or does not exist`);
  }
  await copyEntries(system.readDirSync(fixture), fixture, path);
}

async function isDirectory(path: string): Promise<boolean> {
  return await system.stat(path).then((status) => status.isDirectory, () => false);
}

/** Removes a directory, also if it has directories that the owner may not change, as caches of packages do. */
async function removeDirectory(path: string): Promise<void> {
  try {
    await system.remove(path, { recursive: true });
  } catch {
    allowChanges(path);
    await system.remove(path, { recursive: true });
  }
}

function allowChanges(directory: string): void {
  system.chmodSync(directory, 0o700);
  for (const { name, isDirectory } of system.readDirSync(directory)) {
    if (isDirectory) allowChanges(join(directory, name));
  }
}

async function copyEntries(
  entries: Iterable<NamedEntry>,
  from: string,
  to: string,
): Promise<void> {
  for (const { name, isDirectory, isFile } of entries) {
    const source = join(from, name);
    const target = join(to, name);
    if (isDirectory) {
      const nested = readFixture(source);
      if (!nested) continue;
      await system.mkdir(target);
      await copyEntries(nested, source, target);
    } else if (isFile) {
      if (!isReport(source)) await system.copyFile(source, target);
    } else {
      // The copy of a link would let the agent change a file outside of its directory.
      throw new BadRequestError(`The fixture has "${source}", which is not a file or a directory`);
    }
  }
}
