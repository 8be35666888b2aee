import { assertEquals } from "@std/assert";
import type { QueuedMessages } from "../../core/events/event.ts";
import { userMessage } from "../../core/messages/message.ts";
import { RunActivity, type RunRecord } from "./run_record.ts";

Deno.test("RunActivity: the queues are those of the last change or save", () => {
  const activity = new RunActivity("run");
  const apply = (record: RunRecord) => activity.apply({ number: 1, record });
  const queued: QueuedMessages = {
    steering: [],
    followUp: [{ id: "q", message: userMessage("Next", 1) }],
  };
  const none: QueuedMessages = { steering: [], followUp: [] };
  apply({ type: "saved", position: 1, entryId: "a", queued: none });
  apply({ type: "agent", event: { type: "queue_changed", queued } });
  assertEquals(activity.get().queued, queued);
  apply({ type: "saved", position: 2, entryId: "b", queued: none });
  assertEquals(activity.get().queued, none);
});
