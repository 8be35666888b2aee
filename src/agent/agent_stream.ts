/**
 * The stream of a run's events, with helpers for its result.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";
import type { StartedRun } from "../loop/start_run.ts";
import { type AgentResult, toAgentResult } from "./agent_result.ts";
import { createResponse, type ResponseOptions } from "./response.ts";

/**
 * The events of a run. Read it, or call one of its methods, which read it to its end; a stream that is never read pauses
 * its run.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const stream = agent.promptStream("Greet me");
 * for await (const event of stream) {
 *   if (event.type === "turn_end") event.reason; // "complete"
 * }
 * (await stream.result()).text; // "Hello!"
 * ```
 */
export interface AgentStream extends ReadableStream<AgentEvent> {
  /** Returns an iterator; leaving a `for await` loop early aborts the run. */
  [Symbol.asyncIterator](options?: ReadableStreamIteratorOptions): AgentStreamIterator;
  /** Resolves to the text of the last reply when the run has ended, also if it failed. Rejects on misuse. */
  text(): Promise<string>;
  /** Resolves to the result when the run has ended, also if the stream is read elsewhere. Rejects on misuse. */
  result(): Promise<AgentResult>;
  /**
   * Creates an HTTP response that streams the events; closing its connection aborts the run. The status is sent before
   * the run ends: a failure is in `agent_end`, and misuse errors the body.
   *
   * @throws {TypeError} If the stream is being read.
   * @throws {BadRequestError} If the format is unknown.
   */
  toResponse(options?: ResponseOptions): Response;
}

/** Iterator of an {@linkcode AgentStream}. */
export type AgentStreamIterator = ReturnType<
  ReadableStream<AgentEvent>[typeof Symbol.asyncIterator]
>;

/** Adds the helpers to the stream of a run. */
export function createAgentStream(
  { stream, summary, discard }: Pick<StartedRun, "stream" | "summary" | "discard">,
): AgentStream {
  // The outcome is also in the events, so that it may stay unused.
  summary.catch(() => {});
  let outcome: Promise<AgentResult> | undefined;
  const result = async (): Promise<AgentResult> => {
    if (!stream.locked) void awaitEnd(stream, discard);
    return await (outcome ??= summary.then(toAgentResult));
  };
  const text = async (): Promise<string> => (await result()).text;
  const toResponse = (options?: ResponseOptions): Response => createResponse(stream, options);
  return Object.assign(stream, { text, result, toResponse });
}

/** Creates the stream of a run that was not started, because of misuse. */
export function createFailedStream(error: unknown): AgentStream {
  const stream = new ReadableStream({ start: (controller) => controller.error(error) });
  return createAgentStream({ stream, summary: Promise.reject(error), discard: () => {} });
}

/** Locks a stream until its end and discards its events, so that the run does not wait for a reader. */
async function awaitEnd(stream: ReadableStream<AgentEvent>, discard: () => void): Promise<void> {
  const reader = stream.getReader();
  discard();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The outcome rejects with the same error.
  } finally {
    reader.releaseLock();
  }
}
