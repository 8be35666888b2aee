/**
 * A run as a stream of the chunks of AI SDK UI.
 *
 * @module
 */

import { AgentError, getErrorMessage } from "../../core/errors/errors.ts";
import type { AgentEndEvent, AgentEvent } from "../../core/events/event.ts";
import { ChunkMapper, type ChunkMapperOptions } from "./chunk_mapper.ts";
import type { UiMessageChunk } from "./ui_message.ts";

/** Options for {@linkcode toUiMessageStream}. */
export interface UiMessageStreamOptions {
  /** Returns the metadata of the message when the run has ended and not failed, such as its usage; must be JSON. Default: none. */
  readonly messageMetadata?: ((end: AgentEndEvent) => unknown) | undefined;
}

/**
 * Maps the events of a run to the chunks from which `useChat()` of the AI SDK builds a message. Cancelling the stream
 * aborts the run. A run that cannot start, such as that of an agent that is running already, is an `error` chunk.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { toUiMessageStream } from "@swink/agent/ai-sdk";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const chunks = await Array.fromAsync(toUiMessageStream(agent.promptStream("Hi")));
 * chunks.map(({ type }) => type); // ["start", "start-step", "text-start", "text-delta", …]
 * ```
 */
export function toUiMessageStream(
  stream: ReadableStream<AgentEvent>,
  { messageMetadata }: UiMessageStreamOptions = {},
): ReadableStream<UiMessageChunk> {
  return mapChunks(stream, { messageMetadata });
}

/** Maps the events of a run for a page with messages. */
export function mapChunks(
  stream: ReadableStream<AgentEvent>,
  options: ChunkMapperOptions,
): ReadableStream<UiMessageChunk> {
  const reader = stream.getReader();
  const mapper = new ChunkMapper(options);
  return new ReadableStream<UiMessageChunk>({
    async pull(controller) {
      try {
        while (true) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          const chunks = mapper.map(value);
          for (const chunk of chunks) controller.enqueue(chunk);
          if (chunks.length > 0) return;
        }
      } catch (thrown) {
        controller.enqueue({ type: "error", errorText: describe(thrown) });
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** The details of an error of the application are not meant for a page. */
function describe(thrown: unknown): string {
  return AgentError.is(thrown) ? getErrorMessage(thrown) : "The answer could not be sent";
}
