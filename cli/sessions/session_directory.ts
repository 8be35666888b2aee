/**
 * The directory of the sessions.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";

/** Returns the directory of the sessions. */
export function getSessionDirectory({ state }: ProgramDirectories): string {
  return join(state, "sessions");
}
