import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { internalsByAgent } from "../../agent/options.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { QueueChangedEntry, SessionEntry } from "../../core/sessions/session_entry.ts";
import { MessageQueue } from "../../loop/queues/message_queue.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { hang, reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { getUndelivered, QueueTracker } from "./queue_tracker.ts";

const position = { id: "e", parentId: null, timestamp: 1 };
const message = { ...userMessage("later", 1), id: "later" };

function createEntry(id: string, isDelivering: boolean): SessionEntry {
  const [queued, empty] = [{ steering: [], followUp: [{ id, message }] }, {
    steering: [],
    followUp: [],
  }];
  const body = isDelivering ? { queued: empty, delivering: queued } : { queued };
  return { type: "queue_changed", ...body, ...position };
}

function createAgent(...texts: string[]): Agent {
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([]) });
  for (const text of texts) agent.followUp({ ...userMessage(text, 1), id: text });
  return agent;
}

Deno.test("QueueTracker.start(): a path has the restored messages only if none of them is being delivered", () => {
  const agent = createAgent("later");
  const { queued } = agent;
  const isRecorded = (...path: SessionEntry[]) => new QueueTracker().start(agent, path);
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
  const agent = createAgent("b");
  agent.steer({ ...userMessage("a", 1), id: "a" });
  const { queued } = agent;
  const [[first], [second]] = [queued.steering, queued.followUp];
  assert(first && second);
  const empty = { steering: [], followUp: [] };
  const tracker = new QueueTracker();
  tracker.start(agent, []);
  assertEquals(tracker.update(queued, false), { type: "queue_changed", queued });
  const { steering, followUp } = internalsByAgent.get(agent)?.createConfig() ?? {};
  for (const queue of [steering, followUp]) if (queue instanceof MessageQueue) queue.take();
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

Deno.test("QueueTracker: a message that the host removes during a run is not being delivered", async () => {
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([reply("ok"), reply("ok")]) });
  for (const text of ["a", "b"]) agent.followUp({ ...userMessage(text, 1), id: text });
  const tracker = new QueueTracker();
  tracker.start(agent, []);
  const [first, second] = agent.queued.followUp;
  assert(first && second);
  const changes: QueueChangedEntry[] = [];
  agent.subscribe((event) => {
    if (event.type === "turn_start") agent.cancelQueued(second.id);
    if (event.type === "queue_changed") changes.push(tracker.update(event.queued, true));
  });
  await agent.prompt("Go");
  const empty = { steering: [], followUp: [] };
  assertEquals(changes, [
    { type: "queue_changed", queued: { ...empty, followUp: [first] } },
    { type: "queue_changed", queued: empty, delivering: { ...empty, followUp: [first] } },
  ]);
});

Deno.test("getUndelivered(): a message that an earlier run has delivered is none after a reset", async () => {
  const streamFn = scriptedStream([reply("ok"), reply("ok"), hang()]);
  const agent = new Agent({ model: "p/m", streamFn });
  agent.followUp("later");
  await agent.prompt("Go");
  agent.reset();
  const running = agent.prompt("Go");
  await waitUntil(() => streamFn.calls.length === 3);
  assertEquals(getUndelivered(agent), { steering: [], followUp: [] });
  agent.abort();
  await running;
});
