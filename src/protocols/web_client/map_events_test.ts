import { assertEquals } from "@std/assert";
import type { AgentEvent } from "../../core/events/event.ts";
import { mapEvents } from "./map_events.ts";

Deno.test("mapEvents(): an event that cannot be mapped aborts the run, and the others end with a failure", async () => {
  let isCancelled = false;
  const events = new ReadableStream<AgentEvent>({
    start(controller) {
      controller.enqueue({ type: "agent_start", seq: 0, runId: "r" } as AgentEvent);
      controller.enqueue({ type: "custom", seq: 1, name: "x", data: null } as AgentEvent);
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  const mapped = mapEvents<string>(events, {
    map({ type }) {
      if (type === "custom") throw new Error("Unknown");
      return [type];
    },
    fail: (thrown) => [`${thrown}`],
  });
  assertEquals(await Array.fromAsync(mapped), ["agent_start", "Error: Unknown"]);
  assertEquals(isCancelled, true);
});
