import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/message.ts";
import type { SessionEntry } from "../../core/session_entry.ts";
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
