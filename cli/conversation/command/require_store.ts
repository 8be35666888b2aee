/**
 * The store of the sessions, for commands that need it.
 *
 * @module
 */

import type { SessionStore } from "../../../src/memory/mod.ts";
import { createNoHomeError } from "../../host/program_directories.ts";
import type { SessionControl } from "./command_context.ts";

/**
 * Returns the store.
 *
 * @throws {ConfigurationError} For a user without a home directory.
 */
export async function requireStore(
  sessions: Pick<SessionControl, "openStore">,
): Promise<SessionStore> {
  const store = await sessions.openStore();
  if (store) return store;
  throw createNoHomeError("sessions");
}
