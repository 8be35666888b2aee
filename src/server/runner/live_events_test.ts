import { assert, assertEquals } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { type ActiveLog, LiveEvents } from "./live_events.ts";

function serialize(event: unknown): string {
  const live = new LiveEvents("e");
  live.push(event as AgentEvent, 0);
  const [pushed] = live.after(0, 1);
  assert(pushed);
  return live.toJson(pushed);
}

Deno.test("LiveEvents: redacts keys in errors and warnings of providers", () => {
  const key = `sk-ant-${"a1B2".repeat(8)}`;
  const error = new BadRequestError(`The key ${key} was rejected`, {
    cause: new Error(`Bearer ${key}`),
  });
  for (
    const event of [
      { type: "agent_end", error, messages: [] },
      { type: "retry", error, attempt: 1, delayMs: 1, discard: false },
      { type: "model_call_end", error },
      { type: "warning", code: "x", message: key },
    ]
  ) {
    const json = serialize(event);
    assert(!json.includes(key), json);
    assertEquals(JSON.parse(json).type, event.type);
  }
});

Deno.test("LiveEvents: replaces an event that is not JSON by a warning", () => {
  const json = serialize({ type: "agent_end", abortReason: 5n });
  assertEquals(JSON.parse(json).code, "event_not_serializable");
});

Deno.test("LiveEvents: keeps the last events, and knows which ones it has", () => {
  const live = new LiveEvents("e");
  assert(live.has(0) && !live.has(1));
  for (let turn = 1; turn <= 10_000; turn++) live.push({ type: "turn_start", turn }, 0);
  assertEquals(live.lastSeq, 10_000);
  assert(live.has(10_000) && live.has(9_000) && !live.has(1_000) && !live.has(10_001));
  assertEquals(live.after(9_998, 10).map(({ seq }) => seq), [9_999, 10_000]);
  assertEquals(live.after(9_990, 3).map(({ seq }) => seq), [9_991, 9_992, 9_993]);
});

Deno.test("LiveEvents: the JSON of events is shared by clients during a run, and not kept after it", () => {
  const live = new LiveEvents("e");
  const run = {} as ActiveLog;
  live.setActive(run);
  live.push({ type: "turn_start", turn: 1 }, 0);
  const [event] = live.after(0, 1);
  assert(event);
  const json = live.toJson(event);
  assertEquals(event.json, json);
  live.setActive(undefined);
  assertEquals(event.json, undefined);
  assertEquals([live.toJson(event), event.json], [json, undefined]);
});
