import { assertEquals, assertRejects } from "@std/assert";
import type { AgentEvent } from "../../../mod.ts";
import { DeferredReporter } from "./deferred_reporter.ts";

/** Creates a reporter that records its calls. */
function createRecorder() {
  const calls: string[] = [];
  const record = (call: string) => Promise.resolve(void calls.push(call));
  const reporter = {
    onRunStart: () => record("start"),
    onEvent: ({ type }: AgentEvent) => record(type),
    onNotice: () => record("notice"),
    onRunEnd: () => record("end"),
    [Symbol.dispose]: () => void calls.push("dispose"),
  };
  const open = async () => {
    await reporter.onRunStart();
    return reporter;
  };
  return { calls, open };
}

function event(type: AgentEvent["type"]): AgentEvent {
  return { type, seq: 1 } as AgentEvent;
}

Deno.test("DeferredReporter: holds events back until the first request", async () => {
  const { calls, open } = createRecorder();
  {
    await using reporter = new DeferredReporter(open);
    await reporter.onEvent(event("agent_start"));
    await reporter.onEvent(event("model_call_start"));
    assertEquals(calls, []);
    await Promise.all([reporter.open(), reporter.open()]);
    assertEquals(calls, ["start", "agent_start", "model_call_start"]);
    await reporter.onEvent(event("turn_end"));
  }
  assertEquals(calls, ["start", "agent_start", "model_call_start", "turn_end", "dispose"]);
});

Deno.test("DeferredReporter: opens with the first event after the request", async () => {
  const { calls, open } = createRecorder();
  const reporter = new DeferredReporter(open);
  await reporter.onEvent(event("model_call_start"));
  await reporter.onEvent(event("message_update"));
  assertEquals(calls, ["start", "model_call_start", "message_update"]);
});

Deno.test("DeferredReporter: disposes of nothing that was not opened", async () => {
  const { calls, open } = createRecorder();
  await new DeferredReporter(open)[Symbol.asyncDispose]();
  assertEquals(calls, []);
  const failing = new DeferredReporter(() => Promise.reject(new Error("The output is full")));
  await assertRejects(() => failing.open(), Error, "The output is full");
  await failing[Symbol.asyncDispose]();
});
