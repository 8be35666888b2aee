/**
 * A storage in memory.
 *
 * @module
 */

import type { SessionSummary } from "../../core/sessions/session.ts";
import type { EntryOutline, SessionHeader } from "../../core/sessions/session_entry.ts";
import { createLockLostError } from "../store/session_errors.ts";
import { selectSummaries } from "../store/session_page.ts";
import type {
  EntryAppend,
  EntryStorage,
  LeaseRequest,
  LeaseResult,
  StorageListOptions,
  StoredEntry,
  StoredSession,
} from "./entry_storage.ts";

/** A session in memory. */
interface MemorySession {
  readonly header: SessionHeader;
  readonly entries: StoredEntry[];
  summary: SessionSummary;
}

/** Creates a storage that keeps sessions until the program ends. */
export function createMemoryStorage(): EntryStorage {
  return new MemoryStorage();
}

class MemoryStorage implements EntryStorage {
  readonly #sessions = new Map<string, MemorySession>();
  readonly #leases = new Map<string, LeaseRequest>();

  append(id: string, append: EntryAppend): Promise<boolean> {
    const { header, entries, position, summary, token } = append;
    const session = this.#sessions.get(id) ?? { header, entries: [], summary };
    const isWriter = this.#leases.get(id)?.token === token;
    if (!isWriter || session.entries.length !== position) return Promise.resolve(false);
    for (const entry of entries) session.entries.push(entry);
    session.summary = summary;
    this.#sessions.set(id, session);
    return Promise.resolve(true);
  }

  load(id: string): Promise<StoredSession | undefined> {
    const session = this.#sessions.get(id);
    if (!session) return Promise.resolve(undefined);
    const { header, summary, entries } = session;
    return Promise.resolve({ header, summary, outline: entries.map(toOutline) });
  }

  readLines(id: string, positions: readonly number[]): Promise<readonly (string | undefined)[]> {
    const entries = this.#sessions.get(id)?.entries;
    return Promise.resolve(positions.map((position) => entries?.[position]?.line));
  }

  list(options: StorageListOptions): Promise<readonly SessionSummary[]> {
    const summaries = Array.from(this.#sessions.values(), ({ summary }) => summary);
    return Promise.resolve(selectSummaries(summaries, options));
  }

  async delete(id: string, token: string): Promise<boolean> {
    const lease = this.#leases.get(id);
    if (lease?.token !== token) throw createLockLostError(id, lease?.owner);
    return await Promise.resolve(this.#sessions.delete(id));
  }

  lease(id: string, request: LeaseRequest): Promise<LeaseResult> {
    const current = this.#leases.get(id);
    const isFree = !current || current.token === request.token ||
      current.owner.heartbeat + current.durationMs < request.owner.heartbeat;
    if (!isFree) return Promise.resolve({ type: "refused", owner: current.owner });
    this.#leases.set(id, request);
    return Promise.resolve({ type: "granted" });
  }

  release(id: string, token: string): Promise<void> {
    if (this.#leases.get(id)?.token === token) this.#leases.delete(id);
    return Promise.resolve();
  }
}

function toOutline({ type, id, parentId, timestamp }: StoredEntry): EntryOutline {
  return { type, id, parentId, timestamp };
}
