/**
 * The events of runs in objects of Restate.
 *
 * @module
 */

import { realSleep } from "../../core/ports/ports.ts";
import type {
  EventContent,
  EventPosition,
  EventStorage,
  NewEvent,
  RunAttempt,
  StoredEvent,
} from "../events/event_storage.ts";
import { encodeRunId, type RestateClient } from "./restate_client.ts";
import type { RestateContext, RestateHandler, RestatePackage } from "./restate_package.ts";

/** Maximum number of records of a response. */
const MAX_READ = 256;
/** Time in which this process learns that it no longer executes a run, in milliseconds. */
const DETACH_MS = 500;

/** The records of an execution of a run. */
interface Appended {
  /** Number of the execution. Default: it has none. */
  readonly attempt?: number | undefined;
  readonly contents: readonly EventContent[];
}

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
    const numbers = new Map<NewEvent, number>();
    // Only the last one of several executions of a run can still store records.
    const groups = new Map<RunAttempt | string, NewEvent[]>();
    for (const event of events) {
      const { attempt = event.runId } = event;
      const group = groups.get(attempt) ?? [];
      groups.set(attempt, group);
      group.push(event);
    }
    await Promise.all(Array.from(groups.values(), async (own) => {
      const last = await this.#append(own);
      if (last === 0) return;
      own.forEach((event, index) => numbers.set(event, last - own.length + index + 1));
    }));
    return events.map((event) => numbers.get(event) ?? 0);
  }

  async begin(runId: string, attempt: RunAttempt): Promise<void> {
    const number = await this.#options.client.call(this.#getPath(runId, "begin"), {});
    attempt.number = number as number;
  }

  /** Appends records of an execution; returns the number of the last one, or 0 if another execution has followed. */
  async #append(events: readonly NewEvent[]): Promise<number> {
    const [first] = events;
    if (!first) return 0;
    const { runId, attempt } = first;
    const { client, keepMs } = this.#options;
    const contents = events.map(({ runId: _, attempt: __, ...content }) => content);
    while (true) {
      const appended: Appended = { attempt: attempt?.number, contents };
      const options = { idempotencyKey: this.#getKey(first) };
      const last = await client.call(this.#getPath(runId, "append"), appended, options);
      if (typeof last === "number") {
        if (contents.at(-1)?.type !== "end") return last;
        await client.send(this.#getPath(runId, "remove"), {}, { delayMs: keepMs });
        return last;
      }
      if (!attempt) return 0;
      await realSleep(DETACH_MS, attempt.detached);
      if (attempt.detached.aborted) return 0;
      // An execution that has ended meanwhile was the last one that began to publish.
      await this.begin(runId, attempt);
      this.#keys.delete(first);
    }
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

  #getKey(first: NewEvent): string {
    const key = this.#keys.get(first) ?? crypto.randomUUID();
    this.#keys.set(first, key);
    return key;
  }

  #getPath(runId: string, handler: string): string {
    return `${this.#options.service}/${encodeRunId(runId)}/${handler}`;
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
      begin: async (context: RestateContext) => {
        const attempt = (await context.get<number>("attempt") ?? 0) + 1;
        context.set("attempt", attempt);
        return attempt;
      },
      append: async (context: RestateContext, input: Appended | readonly EventContent[]) => {
        // Workers of an earlier version send the records alone. Restate would repeat a request that fails for ever.
        const { attempt, contents } = "contents" in input ? input : { contents: input };
        // Another worker executes the run, and has read what it need not publish again.
        if (attempt !== undefined && attempt !== await context.get<number>("attempt")) return null;
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
