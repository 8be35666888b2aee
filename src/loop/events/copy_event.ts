/**
 * Copies of the events of agents that a tool runs.
 *
 * @module
 */

import { AgentError } from "../../core/errors/errors.ts";
import { ignoreRejections } from "../../core/errors/refuse_promise.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { ENVELOPE_DEPTH, isJsonObject, MAX_JSON_DEPTH, toJsonValue } from "../../core/json/json.ts";

/**
 * Returns a copy of an event, whose data must be JSON; an error is an `AgentError`, and the reason of an abort stays any
 * value.
 *
 * @throws {TypeError} If an untyped tool passes a value that is no event.
 */
export function copyEvent(event: AgentEvent): AgentEvent {
  if (!isEvent(event)) {
    ignoreRejections(event);
    throw new TypeError("it must have a type and the properties of that type");
  }
  if (event.type === "sub_agent") {
    const { event: own, ...wrapper } = event;
    return { ...copyData(wrapper), event: copyEvent(own) };
  }
  const { error, abortReason, ...data } = event as AgentEvent & {
    readonly error?: AgentError;
    readonly abortReason?: unknown;
  };
  return {
    ...copyData(data),
    ...(error !== undefined && { error: AgentError.is(error) ? error : AgentError.from(error) }),
    ...(abortReason !== undefined && { abortReason }),
  } as AgentEvent;
}

/** Whether a value has the properties that a run reads; tools may pass events that another process has sent. */
function isEvent(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { type, path, event, report, result } = value;
  switch (type) {
    case "sub_agent":
      return Array.isArray(path) && isEvent(event);
    case "context_compacted":
      return isJsonObject(report);
    case "tool_execution_end":
      return isJsonObject(result);
    default:
      return typeof type === "string";
  }
}

function copyData<Data extends object>(data: Data): Data {
  const copy = toJsonValue(data, MAX_JSON_DEPTH + ENVELOPE_DEPTH);
  if ("problem" in copy) throw new TypeError(copy.problem);
  return copy.value as Data;
}
