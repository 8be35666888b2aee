/**
 * A run as a stream of AG-UI events.
 *
 * @module
 */

import { AgentError, getErrorMessage } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { AgUiEvent } from "./ag_ui_event.ts";
import { EventMapper, type EventMapperOptions } from "./event_mapper.ts";

/** Options for {@linkcode toAgUi}. */
export type AgUiOptions = EventMapperOptions;

/**
 * Maps the events of a run to those of AG-UI. Cancelling the stream aborts the run. A run that cannot start, such as that
 * of an agent that is running already, is a `RUN_ERROR`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { toAgUi } from "@swink/agent/ag-ui";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const events = await Array.fromAsync(toAgUi(agent.promptStream("Hi"), { threadId: "t1" }));
 * events[0]?.type; // "RUN_STARTED"
 * ```
 */
export function toAgUi(
  stream: ReadableStream<AgentEvent>,
  options: AgUiOptions,
): ReadableStream<AgUiEvent> {
  return mapEvents(stream, options);
}

/** Maps the events of a run whose client has tools. */
export function mapEvents(
  stream: ReadableStream<AgentEvent>,
  options: AgUiOptions,
  clientTools: readonly string[] = [],
): ReadableStream<AgUiEvent> {
  const reader = stream.getReader();
  const mapper = new EventMapper(options, { clientTools });
  let isStarted = false;
  return new ReadableStream<AgUiEvent>({
    async pull(controller) {
      try {
        while (true) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          isStarted ||= value.type === "agent_start";
          const events = mapper.map(value);
          for (const event of events) controller.enqueue(event);
          if (events.length > 0) return;
        }
      } catch (thrown) {
        const { threadId, runId = "" } = options;
        if (!isStarted) {
          controller.enqueue({ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" });
        }
        controller.enqueue(toRunError(thrown));
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** The details of an error of the application are not meant for a client. */
function toRunError(thrown: unknown): AgUiEvent {
  if (AgentError.is(thrown)) {
    return { type: "RUN_ERROR", message: getErrorMessage(thrown), code: thrown.code };
  }
  return { type: "RUN_ERROR", message: "The run could not be started", code: "stream_error" };
}
