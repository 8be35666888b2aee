import { assertEquals } from "@std/assert";
import { EventQueue } from "./event_queue.ts";
import type { AssistantMessageEvent } from "./stream.ts";

function createDelta(delta: string): AssistantMessageEvent {
  return { type: "text_delta", contentIndex: 0, delta };
}

function createQueue() {
  const calls: string[] = [];
  const queue = new EventQueue({
    onStart: () => calls.push("start"),
    onLeave: () => calls.push("leave"),
  });
  return { queue, calls };
}

async function readAll(queue: EventQueue): Promise<AssistantMessageEvent[]> {
  return await Array.fromAsync(queue);
}

Deno.test("EventQueue: reads events in order, those that wait for an event too", async () => {
  const { queue, calls } = createQueue();
  assertEquals(calls, []);
  const reads = [queue.next(), queue.next()];
  assertEquals(calls, ["start"]);
  for (const text of ["a", "b", "c"]) queue.push(createDelta(text));
  queue.close();
  queue.push(createDelta("late"));
  const first = await Promise.all(reads);
  assertEquals(first.map(({ value }) => value), [createDelta("a"), createDelta("b")]);
  assertEquals(await readAll(queue), [createDelta("c")]);
  assertEquals(calls, ["start"]);
});

Deno.test("EventQueue: a reader that is behind its writer gets every event", async () => {
  const { queue } = createQueue();
  const texts = Array.from({ length: 3_000 }, (_, number) => `${number}`);
  const read: AssistantMessageEvent[] = [];
  for (const [number, text] of texts.entries()) {
    queue.push(createDelta(text));
    const { value } = number % 3 === 0 ? { value: undefined } : await queue.next();
    if (value) read.push(value);
  }
  queue.close();
  read.push(...await readAll(queue));
  assertEquals(read, texts.map(createDelta));
});

Deno.test("EventQueue: drained() resolves when all events are read, or the queue is closed", async () => {
  const { queue } = createQueue();
  const states: string[] = [];
  const note = (name: string) => queue.drained().then(() => void states.push(name));
  await note("empty");
  queue.push(createDelta("a"));
  queue.push(createDelta("b"));
  const drained = note("read");
  await queue.next();
  assertEquals(states, ["empty"]);
  await queue.next();
  await drained;
  queue.push(createDelta("c"));
  const closed = note("closed");
  queue.close();
  await closed;
  await note("after the end");
  assertEquals(states, ["empty", "read", "closed", "after the end"]);
});

Deno.test("EventQueue: return() discards the events, and ends pending reads", async () => {
  const { queue, calls } = createQueue();
  const pending = queue.next();
  await queue.return();
  assertEquals(await pending, { done: true, value: undefined });
  queue.push(createDelta("late"));
  assertEquals(await readAll(queue), []);
  assertEquals(calls, ["start", "leave"]);
});

Deno.test("EventQueue: return() before the first read does not start, after the end it leaves nothing", async () => {
  const unread = createQueue();
  await unread.queue.return();
  assertEquals(await readAll(unread.queue), []);
  assertEquals(unread.calls, ["leave"]);
  const ended = createQueue();
  ended.queue.close();
  await ended.queue.return();
  assertEquals(ended.calls, []);
});
