/**
 * The directories of the sessions.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";

/** Returns the directory of the sessions. */
export function getSessionDirectory({ state }: ProgramDirectories): string {
  return join(state, "sessions");
}

/** Returns the directory of the file changes of a session, whose id may have any characters. */
export async function getChangeDirectory(
  { state }: ProgramDirectories,
  sessionId: string,
): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sessionId));
  return join(state, "changes", new Uint8Array(bytes).toHex());
}
