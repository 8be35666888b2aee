/**
 * Stamps of sessions, which differ after each append.
 *
 * A process that waits for the entries of others compares them, since opening a session reads the outlines of all entries.
 *
 * @module
 */

import type { SessionStore } from "../../core/sessions/session.ts";

/** Reads the stamp of a session; `undefined` if it does not exist. */
export type ReadStamp = (id: string) => Promise<string | undefined>;

/** The functions of the stores that have stamps. Not a part of a store, which applications can implement. */
export const stampReaders: WeakMap<SessionStore, ReadStamp> = new WeakMap();
