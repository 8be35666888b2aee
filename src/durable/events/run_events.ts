/**
 * The events of one run, for the process that executes it.
 *
 * @module
 */

import type { EventHub } from "./event_hub.ts";
import type { EventContent, EventStorage, RunAttempt, StoredEvent } from "./event_storage.ts";

const MAX_READ = 1_000;

/** The interface of an engine to the events of one run. */
export interface RunEvents {
  /** Returns the stored records of the run. */
  load(): Promise<readonly StoredEvent[]>;
  /** Stores a record in the background; resolves when further ones may be added. */
  append(content: EventContent): Promise<void>;
  /** Resolves when all records are stored. */
  flush(): Promise<void>;
}

/** Returns the events of an execution of a run, which a hub stores. Default: the storage does not distinguish executions. */
export function createRunEvents(
  runId: string,
  { hub, storage }: { readonly hub: EventHub; readonly storage: EventStorage },
  attempt?: RunAttempt,
): RunEvents {
  return {
    load: async () => {
      // An attempt that has just ended in this process may have published events that are not stored yet.
      await hub.flush(runId);
      if (attempt) await storage.begin?.(runId, attempt);
      return await readAll(storage, runId);
    },
    append: (content) => hub.append(runId, content, attempt),
    flush: () => hub.flush(runId),
  };
}

/** Returns all stored records of a run after a number. */
export async function readAll(
  storage: EventStorage,
  runId: string,
  after = 0,
): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for (let last = after;;) {
    const found = await storage.read([{ runId, after: last }], MAX_READ);
    const records = found.get(runId) ?? [];
    all.push(...records);
    if (records.length < MAX_READ) return all;
    last = records.at(-1)?.number ?? last;
  }
}
