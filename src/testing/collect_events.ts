/**
 * Collects a stream into an array.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";

/**
 * Reads a stream to its end and returns its values in order.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { collectEvents, reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello")]) });
 * const events = await collectEvents(agent.promptStream("Hi"));
 * events.at(-1)?.type; // "agent_end"
 * ```
 */
export async function collectEvents<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  checkEventSource(stream);
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/**
 * Checks a source of events.
 *
 * @throws {BadRequestError} If it cannot be iterated over.
 */
export function checkEventSource(source: unknown): void {
  const isIterable = typeof source === "object" && source !== null &&
    (Symbol.asyncIterator in source || Symbol.iterator in source);
  if (!isIterable) throw new BadRequestError("Pass a stream or an array of events");
}
