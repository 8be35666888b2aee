import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { NetworkError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { MAX_JSON_DEPTH } from "../../core/json/json.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import { copyEvent } from "./copy_event.ts";

/** Returns arguments that are nested `levels` deep. */
function nest(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level++) value = { value };
  return value;
}

function createStart(args: Record<string, unknown>): AgentEvent {
  return { type: "tool_execution_start", id: "call_1", name: "look", arguments: args };
}

Deno.test("copyEvent() copies arguments of the maximum depth, which share nothing with the event", () => {
  const event = createStart(nest(MAX_JSON_DEPTH));
  const copy = copyEvent(event);
  assertEquals(copy, event);
  assert(copy.type === "tool_execution_start" && event.type === "tool_execution_start");
  assertNotStrictEquals(copy.arguments, event.arguments);
  assertThrows(() => copyEvent(createStart(nest(10 * MAX_JSON_DEPTH))), TypeError, "levels deep");
});

Deno.test("copyEvent() keeps errors and the reason of an abort, at any depth of agents", () => {
  const error = new NetworkError("Reset");
  const abortReason = new Map([["by", "the user"]]);
  const end: AgentEvent = {
    type: "agent_end",
    messages: [],
    stopReason: "error",
    usage: zeroUsage(),
    cost: zeroCost(),
    error,
    abortReason,
  };
  const copy = copyEvent({ type: "sub_agent", path: ["call_1"], event: end });
  assert(copy.type === "sub_agent" && copy.event.type === "agent_end");
  assertStrictEquals(copy.event.error, error);
  assertStrictEquals(copy.event.abortReason, abortReason);
  assertEquals(copy.event, end);
});

Deno.test("copyEvent() restores the error of an event that another process has sent", () => {
  const sent = JSON.parse(JSON.stringify({
    type: "retry",
    attempt: 1,
    delayMs: 0,
    discard: false,
    error: new NetworkError("Reset", { status: 503 }),
  }));
  const copy = copyEvent(sent);
  assert(copy.type === "retry" && copy.error instanceof NetworkError);
  assertEquals([copy.error.message, copy.error.status], ["Reset", 503]);
});
