/**
 * Collects a stream into an array.
 *
 * @module
 */

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
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
