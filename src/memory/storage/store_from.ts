/**
 * Makes a session store from a storage of entries.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type { EntryStorage } from "./entry_storage.ts";
import { StorageSessionStore, type StoreFromOptions } from "./storage_session_store.ts";

/**
 * Makes a session store from a storage of entries, such as a table or a key-value store.
 *
 * The store keeps the tree of entries, checks and encodes them, repairs damage, and renews leases. `testSessionStore()`
 * of `@swink/agent/testing` tests the result.
 *
 * @example
 * ```ts
 * import { createMemoryStorage, storeFrom } from "@swink/agent/memory";
 *
 * const store = storeFrom(createMemoryStorage(), { owner: "server 1" });
 * await using session = await store.create({ id: "auth0|123", tenant: "acme" });
 * session.append({ type: "title", title: "Notes" });
 * await session.flush();
 * (await store.list({ tenant: "acme" })).length; // 1
 * ```
 */
export function storeFrom(
  storage: EntryStorage,
  options: StoreFromOptions = {},
): StorageSessionStore {
  checkNames(options, ["owner", "leaseMs", "now", "newId", "startInterval"], "storeFrom()");
  return new StorageSessionStore(storage, options);
}
