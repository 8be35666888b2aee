/**
 * The stream of a run's events, with helpers for its result.
 *
 * @module
 */

import type { AgentEvent } from "../core/events/event.ts";
import { ReadableQueue } from "../core/ports/readable_queue.ts";
import type { RunSummary, StartedRun } from "../loop/start_run.ts";
import { type AgentResult, findFailure } from "./agent_result.ts";
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
  [Symbol.asyncIterator](
    options?: ReadableStreamIteratorOptions,
  ): ReturnType<ReadableStream<AgentEvent>[typeof Symbol.asyncIterator]>;
  /**
   * Resolves to the text of the last reply when the run has ended; after a run that waits for approvals or that a policy
   * stopped between two turns, that of its last reply. Rejects with the error of a failed run, with an
   * `AbortedError` or a `BudgetExceededError` if an abort or a policy cut off the run, and on misuse.
   */
  text(): Promise<string>;
  /** Resolves to the result when the run has ended, also if the stream is read elsewhere. Rejects on misuse. */
  result(): Promise<AgentResult>;
  /**
   * Creates an HTTP response that streams the events; closing its connection aborts the run.
   *
   * On misuse there is no run, and the response is an error with `{ error: { code, message } }` as JSON: status 409 for
   * `already_running` and `invalid_continue`, otherwise 400, and 500 if a function of the application failed. The
   * status of a run is sent before it ends: its failure is in `agent_end`, and errors the body in the format `text`.
   *
   * @throws {TypeError} If the stream is being read.
   * @throws {BadRequestError} If the format is unknown, or `keepAliveMs` is not a number of at least 0.
   * @throws {RangeError | TypeError} If no response with a body can have the status.
   */
  toResponse(options?: ResponseOptions): Response;
}

/** Starts a run and returns its result, while only listeners get its events. */
export async function awaitRun(start: () => StartedRun): Promise<AgentResult> {
  const { discard, summary } = start();
  discard();
  return await createResult(summary);
}

/** Starts a run and returns its stream; one that fails if the run cannot be started. */
export function openStream(start: () => StartedRun): AgentStream {
  try {
    const run = start();
    return createAgentStream(run.createStream(), run);
  } catch (misuse) {
    // Its stream can be iterated in every browser.
    const queue = new ReadableQueue<AgentEvent>();
    queue.fail(misuse);
    return createAgentStream(
      queue.stream(),
      { summary: Promise.reject(misuse), discard: () => {} },
      misuse,
    );
  }
}

/** Adds the helpers to the stream of a run; `misuse` is why there is none. */
function createAgentStream(
  stream: ReadableStream<AgentEvent>,
  { summary, discard }: Pick<StartedRun, "summary" | "discard">,
  misuse?: unknown,
): AgentStream {
  // The outcome is also in the events, so that it may stay unused.
  summary.catch(() => {});
  const result = async (): Promise<AgentResult> => {
    await 0; // Lets the caller read the stream after this call.
    if (!stream.locked) {
      // A stream that is locked has no other reader, for which the run would wait.
      discard();
      stream.pipeTo(new WritableStream()).catch(() => {});
    }
    return await createResult(summary);
  };
  const text = async (): Promise<string> => {
    const run = await result();
    const failure = findFailure(run);
    if (failure) throw failure;
    return run.text;
  };
  const toResponse = (options?: ResponseOptions): Response =>
    createResponse(stream, {
      ...options,
      getFailure: async () => findFailure(await summary),
      misuse,
    });
  return Object.assign(stream, { text, result, toResponse });
}

async function createResult(summary: Promise<RunSummary>): Promise<AgentResult> {
  const run = await summary;
  const { toAgentResult } = await import("./run_code.ts");
  return toAgentResult(run);
}
