/**
 * A run as a stream of AG-UI events.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { AgentError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { describeError } from "../web_client/describe_error.ts";
import { mapEvents } from "../web_client/map_events.ts";
import type { AgUiEvent } from "./ag_ui_event.ts";
import { createRunStart, EventMapper, type EventMapperOptions } from "./event_mapper.ts";

/** Options for {@linkcode toAgUi}. */
export type AgUiOptions = EventMapperOptions;

const OPTION_NAMES: Record<keyof AgUiOptions, true> = {
  threadId: true,
  runId: true,
  messages: true,
  state: true,
  onError: true,
};

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
  checkObject(options, "Pass options of toAgUi() such as { threadId }");
  checkNames(options, Object.keys(OPTION_NAMES), "toAgUi()");
  return mapRun(stream, options);
}

/** Maps the events of a run whose client has tools. */
export function mapRun(
  stream: ReadableStream<AgentEvent>,
  options: AgUiOptions,
  clientTools: readonly string[] = [],
): ReadableStream<AgUiEvent> {
  const { threadId, runId = "", onError } = options;
  const mapper = new EventMapper(options, { clientTools });
  let isStarted = false;
  return mapEvents<AgUiEvent>(stream, {
    map(event) {
      isStarted ||= event.type === "agent_start";
      return mapper.map(event);
    },
    fail: (thrown) => [
      ...(isStarted ? [] : [createRunStart(threadId, runId)]),
      {
        type: "RUN_ERROR",
        message: describeError(thrown, "The run could not be started", onError),
        code: AgentError.is(thrown) ? thrown.code : "stream_error",
      },
    ],
  });
}
