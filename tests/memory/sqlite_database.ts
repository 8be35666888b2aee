/**
 * Databases for the tests of the SQLite store.
 *
 * @module
 */

import { userMessage } from "../../src/core/message.ts";
import type { SessionEntryBody } from "../../src/core/session_entry.ts";

/** Creates an entry with a prompt. */
export function createMessageEntry(content: string): SessionEntryBody {
  return { type: "message", message: userMessage(content, 1) };
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
