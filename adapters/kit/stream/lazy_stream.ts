/**
 * Streams of stream functions that are loaded on first use, and streams of requests that failed before.
 *
 * @module
 */

import { AgentError, getErrorMessage, StreamError } from "../../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../../../src/core/stream.ts";

/** Loads a stream function when the first event is read. A failure to load becomes an `error` event. */
export function lazyStream(
  load: () => Promise<StreamFn>,
  request: StreamRequest,
): ReadableStream<AssistantMessageEvent> {
  let events: AsyncIterator<AssistantMessageEvent> | null = null;
  return new ReadableStream({
    async pull(controller): Promise<void> {
      events ??= await openIterator(load, request);
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(): Promise<void> {
      await events?.return?.();
    },
  }, { highWaterMark: 0 });
}

/** Creates the stream of a request that failed before it was sent. */
export function failedStream(error: AgentError): ReadableStream<AssistantMessageEvent> {
  return new ReadableStream({
    start(controller): void {
      controller.enqueue({ type: "start" });
      controller.enqueue({ type: "error", stopReason: "error", error });
      controller.close();
    },
  });
}

async function openIterator(
  load: () => Promise<StreamFn>,
  request: StreamRequest,
): Promise<AsyncIterator<AssistantMessageEvent>> {
  const { provider } = request.model;
  try {
    return (await load())(request)[Symbol.asyncIterator]();
  } catch (cause) {
    const message = `Cannot load the adapter for ${provider}: ${getErrorMessage(cause)}`;
    const error = AgentError.is(cause) ? cause : new StreamError(message, { provider, cause });
    return failedStream(error)[Symbol.asyncIterator]();
  }
}
