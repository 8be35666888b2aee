/**
 * A run as a stream of the chunks of AI SDK UI.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type { AgentEndEvent, AgentEvent } from "../../core/events/event.ts";
import { describeError } from "../web_client/describe_error.ts";
import { mapEvents } from "../web_client/map_events.ts";
import { ChunkMapper, type ChunkMapperOptions } from "./chunk_mapper.ts";
import type { UiMessageChunk } from "./ui_message.ts";

/** Options for {@linkcode toUiMessageStream}. */
export interface UiMessageStreamOptions {
  /** Returns the metadata of the message when the run has ended and not failed, such as its usage; must be JSON. Default: none. */
  readonly messageMetadata?: ((end: AgentEndEvent) => unknown) | undefined;
  /**
   * Returns the text of an error for the page, as that of a run that has failed. Default: the message of one of the
   * library.
   */
  readonly onError?: ((error: unknown) => string) | undefined;
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
  options: UiMessageStreamOptions = {},
): ReadableStream<UiMessageChunk> {
  checkNames(options, ["messageMetadata", "onError"], "toUiMessageStream()");
  const { messageMetadata, onError } = options;
  return mapChunks(stream, { messageMetadata, onError });
}

/** Maps the events of a run for a page with messages. */
export function mapChunks(
  stream: ReadableStream<AgentEvent>,
  options: ChunkMapperOptions,
): ReadableStream<UiMessageChunk> {
  const mapper = new ChunkMapper(options);
  return mapEvents<UiMessageChunk>(stream, {
    map: (event) => mapper.map(event),
    fail: (thrown) => {
      const errorText = describeError(thrown, NOT_SENT, options.onError);
      return [{ type: "error", errorText }];
    },
  });
}

const NOT_SENT = "The answer could not be sent";
