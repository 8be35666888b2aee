import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../core/message.ts";
import type { SessionEntry } from "../../core/session_entry.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { QueueTracker } from "./queue_tracker.ts";

const position = { id: "e", parentId: null, timestamp: 1 };
const message = userMessage("later", 1);

function createEntry(id: string, isDelivering: boolean): SessionEntry {
  const [queued, empty] = [{ steering: [], followUp: [{ id, message }] }, {
    steering: [],
    followUp: [],
  }];
  const body = isDelivering ? { queued: empty, delivering: queued } : { queued };
  return { type: "queue_changed", ...body, ...position };
}

Deno.test("QueueTracker.restore(): a path has the restored messages only if none of them is being delivered", () => {
  const queued = { steering: [], followUp: [{ id: "new", message }] };
  const isRecorded = (...path: SessionEntry[]) => new QueueTracker().restore(queued, path);
  assertEquals(isRecorded(createEntry("old", false)), true);
  assertEquals(isRecorded(createEntry("old", true)), false);
  const both = {
    ...createEntry("old", false),
    ...createEntry("old", true),
    queued,
  } as SessionEntry;
  assertEquals(isRecorded(both), false);
  assertEquals(isRecorded(), false);
});

Deno.test("QueueTracker: a message is being delivered until it or a reply is in the conversation", () => {
  const messages = ["a", "b"].map((id) => ({ ...userMessage(id, 1), id }));
  const [first, second] = messages.map((message) => ({ id: `q_${message.id}`, message }));
  assert(first && second);
  const queued = { steering: [first], followUp: [second] };
  const empty = { steering: [], followUp: [] };
  const tracker = new QueueTracker();
  assertEquals(tracker.update(queued, false), { type: "queue_changed", queued });
  const dequeued = { type: "queue_changed", queued: empty } as const;
  assertEquals(tracker.update(empty, true), { ...dequeued, delivering: queued });
  tracker.markDelivered(first.message);
  const rest = { steering: [], followUp: [second] };
  assertEquals(tracker.update(empty, true), { ...dequeued, delivering: rest });
  tracker.markDelivered(assistantMessage("ok"));
  assertEquals(tracker.update(empty, true), dequeued);
  // Without a run, the host has removed it.
  tracker.update(queued, false);
  assertEquals(tracker.update(empty, false), dequeued);
});
