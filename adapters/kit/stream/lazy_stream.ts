/**
 * The stream of a stream function that is still being loaded.
 *
 * @module
 */

import { AgentError, getErrorMessage, StreamError } from "../../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../../../src/core/stream.ts";

/** Loads a stream function when the first event is asked for; one that cannot be loaded is an error of the reply. */
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

/** The stream of a request that could not be made. */
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
    const message = `The adapter for ${provider} could not be loaded: ${getErrorMessage(cause)}`;
    const error = AgentError.is(cause) ? cause : new StreamError(message, { provider, cause });
    return failedStream(error)[Symbol.asyncIterator]();
  }
}
