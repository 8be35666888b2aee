/**
 * The sessions that a caller may use.
 *
 * @module
 */

import type { SessionStore } from "../../core/sessions/session.ts";
import { scopeStore } from "../../memory/storage/scoped_store.ts";
import type { Caller } from "./caller.ts";

/** Returns the store with the sessions of a tenant and a user; with all sessions if a caller has neither. */
export function scopeSessions(
  store: SessionStore,
  { tenant, user }: Pick<Caller, "tenant" | "user">,
): SessionStore {
  return tenant === undefined && user === undefined ? store : scopeStore(store, { tenant, user });
}
