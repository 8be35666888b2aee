/**
 * The text of a run as it arrives.
 *
 * @module
 */

import type { AgentEvent } from "../core/events/event.ts";

/** The events of a run, as of `Agent.promptStream()` and `readResponse()`. */
export interface TextSource extends AsyncIterable<AgentEvent> {
  /** Resolves to the text of the last reply when the run has ended; rejects if the run failed or was cut off. */
  text(): Promise<string>;
}

/**
 * Reads the events of a run, and yields the text of its replies as it arrives, without that of its sub-agents. Leaving
 * the loop early aborts the run.
 *
 * The text of an attempt that failed is not taken back: that of the retry follows it. A program that shows only the
 * latter reads the events (`retry` and `model_fallback` with `discard`), or `text()`.
 *
 * Throws the error of a failed run, and an `AbortedError` or a `BudgetExceededError` if an abort or a policy cut off the
 * run.
 *
 * @example
 * ```ts
 * import { Agent, readTextDeltas } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * let text = "";
 * for await (const delta of readTextDeltas(agent.promptStream("Greet me"))) text += delta;
 * text; // "Hello!"
 * ```
 */
export async function* readTextDeltas(stream: TextSource): AsyncGenerator<string, void, void> {
  for await (const event of stream) {
    if (event.type === "message_update" && event.delta.type === "text_delta") {
      yield event.delta.delta;
    }
  }
  await stream.text();
}
