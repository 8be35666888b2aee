/**
 * The events of runs in objects of Restate.
 *
 * @module
 */

import type {
  EventContent,
  EventPosition,
  EventStorage,
  NewEvent,
  StoredEvent,
} from "../events/event_storage.ts";
import type { RestateClient } from "./restate_client.ts";
import type { RestateContext, RestateHandler, RestatePackage } from "./restate_package.ts";

/** Maximum number of records of a response. */
const MAX_READ = 256;

/** Options for {@linkcode ObjectEvents}. */
export interface ObjectEventsOptions {
  /** Name of the service. */
  readonly service: string;
  /** Calls its handlers. */
  readonly client: RestateClient;
  /** Time for which the events of a run are kept after its end, in milliseconds. */
  readonly keepMs: number;
}

/** Keeps the events of each run in an object, one member of its state for each. */
export class ObjectEvents implements EventStorage {
  readonly #options: ObjectEventsOptions;
  /** The keys of the requests, by their first records: a request that is repeated has the same one. */
  readonly #keys = new WeakMap<NewEvent, string>();

  constructor(options: ObjectEventsOptions) {
    this.#options = options;
  }

  async append(events: readonly NewEvent[]): Promise<readonly number[]> {
    const { client, keepMs } = this.#options;
    const numbers = events.map(() => 0);
    const runIds = new Set(events.map(({ runId }) => runId));
    await Promise.all(Array.from(runIds, async (runId) => {
      const own = [...events.entries()].filter(([, event]) => event.runId === runId);
      const contents = own.map(([, { runId: _, ...content }]) => content);
      const path = this.#getPath(runId, "append");
      const options = { idempotencyKey: this.#getKey(own[0]?.[1]) };
      const last = await client.call(path, contents, options) as number;
      own.forEach(([index], position) => numbers[index] = last - own.length + position + 1);
      if (contents.at(-1)?.type !== "end") return;
      await client.send(this.#getPath(runId, "remove"), {}, { delayMs: keepMs });
    }));
    return numbers;
  }

  async read(
    positions: readonly EventPosition[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
    const entries = await Promise.all(positions.map(async ({ runId, after }) => {
      const records: StoredEvent[] = [];
      while (records.length < limit) {
        const part = await this.#read(runId, {
          after: after + records.length,
          limit: Math.min(limit - records.length, MAX_READ),
        });
        records.push(...part);
        if (part.length < MAX_READ) break;
      }
      return [runId, records] as const;
    }));
    return new Map(entries);
  }

  async findCheckpoint(runId: string): Promise<number> {
    const { client } = this.#options;
    const number = await client.call(this.#getPath(runId, "checkpoint"), {});
    return typeof number === "number" ? Math.max(0, number - 1) : 0;
  }

  async #read(
    runId: string,
    range: { readonly after: number; readonly limit: number },
  ): Promise<readonly StoredEvent[]> {
    const contents = await this.#options.client.call(this.#getPath(runId, "read"), range);
    return (contents as readonly EventContent[]).map((content, index) => ({
      ...content,
      number: range.after + index + 1,
    }));
  }

  #getKey(first: NewEvent | undefined): string {
    const key = (first && this.#keys.get(first)) ?? crypto.randomUUID();
    if (first) this.#keys.set(first, key);
    return key;
  }

  #getPath(runId: string, handler: string): string {
    return `${this.#options.service}/${encodeURIComponent(runId)}/${handler}`;
  }
}

/** Creates the service of the objects. */
export function createEventService(
  { object, handlers: { object: { shared } } }: RestatePackage,
  name: string,
): unknown {
  const read: RestateHandler = async (
    context: RestateContext,
    { after, limit }: { readonly after: number; readonly limit: number },
  ) => {
    const count = await context.get<number>("count") ?? 0;
    const contents: (EventContent | null)[] = [];
    for (let number = after + 1; number <= Math.min(count, after + limit); number++) {
      contents.push(await context.get<EventContent>(`${number}`));
    }
    return contents;
  };
  return object({
    name,
    handlers: {
      append: async (context: RestateContext, contents: readonly EventContent[]) => {
        let count = await context.get<number>("count") ?? 0;
        for (const content of contents) {
          context.set(`${++count}`, content);
          if (content.type === "checkpoint") context.set("checkpoint", count);
        }
        context.set("count", count);
        return count;
      },
      read: shared(read),
      checkpoint: shared((context) => context.get<number>("checkpoint")),
      remove: (context: RestateContext) => {
        context.clearAll();
        return Promise.resolve();
      },
    },
  });
}
