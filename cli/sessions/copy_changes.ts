/**
 * The file changes of a session, for a copy of it.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";
// Not mod.ts, which loads all tools.
import { DirectoryChangeLogStore } from "../../src/tools/changes/directory_change_log_store.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import { copyEntries } from "./copy_entries.ts";
import { getChangeDirectory } from "./session_directory.ts";

/** Ids of the sessions of a copy. */
export interface ChangeCopy {
  /** The session that was copied. */
  readonly from: string;
  /** Its copy. */
  readonly to: string;
}

/**
 * Copies the file changes of a session, so that its copy can undo them, too. The same change is undone only once, since the
 * file then differs from what the change has left. Returns why they cannot be copied; `undefined` if they are.
 */
export async function copyChanges(
  directories: ProgramDirectories,
  { from, to }: ChangeCopy,
): Promise<string | undefined> {
  try {
    const source = new DirectoryChangeLogStore(await getChangeDirectory(directories, from));
    const target = new DirectoryChangeLogStore(await getChangeDirectory(directories, to));
    await copyEntries(source, target);
    return undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}
