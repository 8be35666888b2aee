/**
 * The sessions of a directory.
 *
 * @module
 */

import { SessionError } from "../../src/core/errors/errors.ts";
import type { SessionStore } from "../../src/memory/mod.ts";

/**
 * Returns a store that has only the sessions of a directory, since agents work in that directory.
 */
export function selectDirectory(store: SessionStore, cwd: string): SessionStore {
  /** Reads the header before the session is locked, which its writer would notice. */
  const check = async (id: string): Promise<void> => {
    const session = await store.open(id, { access: "read" });
    await session.close();
    if (session.header.cwd === cwd) return;
    throw new SessionError(`The session "${id}" does not exist`, { reason: "not_found" });
  };
  return {
    create: (options) => store.create({ ...options, cwd }),
    async open(id, options) {
      await check(id);
      return await store.open(id, options);
    },
    list: (options) => store.list({ ...options, cwd }),
    search: (query, options) => store.search(query, { ...options, cwd }),
    async delete(id) {
      await check(id);
      await store.delete(id);
    },
    deleteAll: (options) => store.deleteAll({ ...options, cwd }),
  };
}
