/**
 * Databases for the tests of the SQLite store.
 *
 * @module
 */

import type { DatabaseSync, DatabaseSyncOptions } from "node:sqlite";
import { userMessage } from "../../src/core/messages/message.ts";
import type { SessionEntryBody } from "../../src/core/sessions/session_entry.ts";
import { getBuiltinModule } from "../../src/platform/builtin_modules.ts";

/** Creates an entry with a prompt. */
export function createMessageEntry(content: string): SessionEntryBody {
  return { type: "message", message: userMessage(content, 1) };
}

/** Opens a database of SQLite, without a static import, which a runtime without SQLite cannot load. */
export function openSqlite(path: string, options: DatabaseSyncOptions = {}): DatabaseSync {
  return new (getBuiltinModule("node:sqlite").DatabaseSync)(path, options);
}

/** Runs a test with the path of a new database. */
export function testDatabase(name: string, test: (path: string) => Promise<void>): void {
  Deno.test(`SqliteSessionStore: ${name}`, async () => {
    const directory = await Deno.makeTempDir();
    try {
      await test(`${directory}/sessions.db`);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}
