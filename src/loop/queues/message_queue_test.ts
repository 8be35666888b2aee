import { assert, assertEquals, assertThrows } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { MessageQueue } from "./message_queue.ts";

const [a, b, c] = [userMessage("a", 0), userMessage("b", 0), userMessage("c", 0)];

function createIdCounter(): () => string {
  let count = 0;
  return () => `q${++count}`;
}

Deno.test("MessageQueue: take() returns one message at a time, in order", () => {
  const queue = new MessageQueue({ newId: createIdCounter() });
  [a, b].forEach((message) => queue.add(message));
  assertEquals([queue.peek(), queue.take(), queue.take(), queue.take()], [[a], [a], [b], []]);
});

Deno.test("MessageQueue: take() returns all messages in the mode all", () => {
  const queue = new MessageQueue({ mode: "all" });
  [a, b].forEach((message) => queue.add(message));
  assertEquals([queue.peek(), queue.take(), queue.take()], [[a, b], [a, b], []]);
});

Deno.test("MessageQueue: cancel() removes a message while it is queued", () => {
  const queue = new MessageQueue({ newId: createIdCounter() });
  const queued = [a, b, c].map((message) => queue.add(message));
  assertEquals(queued.map(({ id }) => id), ["q1", "q2", "q3"]);
  assertEquals([queue.cancel("q2"), queue.cancel("q2"), queue.cancel("q9")], [true, false, false]);
  assertEquals(queue.queued.map(({ id }) => id), ["q1", "q3"]);
  queue.clear();
  assertEquals(queue.queued, []);
});

Deno.test("MessageQueue: calls onChange on every change, and does not modify earlier lists", () => {
  let changes = 0;
  const queue = new MessageQueue({ newId: createIdCounter(), onChange: () => changes++ });
  queue.add(a);
  const listed = queue.queued;
  queue.add(b);
  queue.take();
  queue.cancel("q2");
  queue.cancel("q2");
  queue.clear();
  queue.take();
  assertEquals([changes, listed.length], [4, 1]);
});

Deno.test("MessageQueue: onArrival() calls the listener until it is unsubscribed", () => {
  const queue = new MessageQueue();
  let arrivals = 0;
  const unsubscribe = queue.onArrival(() => arrivals++);
  queue.add(a);
  queue.take();
  queue.add(b);
  unsubscribe();
  queue.add(c);
  assertEquals(arrivals, 2);
});

Deno.test("MessageQueue: a listener that another one adds is called for later messages only", () => {
  const queue = new MessageQueue();
  let arrivals = 0;
  const unsubscribe = queue.onArrival(() => {
    unsubscribe();
    queue.onArrival(() => arrivals++);
  });
  queue.add(a);
  assertEquals(arrivals, 0);
  queue.add(b);
  assertEquals(arrivals, 1);
});

Deno.test("MessageQueue: take() returns the results of tool calls with the reply that makes them", () => {
  const queue = new MessageQueue();
  const call = assistantMessage([
    toolCall("look", {}, { id: "1" }),
    toolCall("look", {}, { id: "2" }),
  ]);
  const results = extractToolCalls(call.content).map((call) => toolResultMessage(call, "ok"));
  [a, call, ...results, b].forEach((message) => queue.add(message));
  assertEquals([queue.take(), queue.take(), queue.take()], [[a], [call, ...results], [b]]);
});

Deno.test("MessageQueue: snapshot() lists the messages of its time, whatever happens later", () => {
  const queue = new MessageQueue({ newId: createIdCounter() });
  const add = (message: typeof a) => queue.add(message);
  [a, b, c].forEach(add);
  queue.take();
  const list = queue.snapshot();
  const before = queue.queued;
  add(a);
  queue.take();
  queue.take();
  queue.cancel("q4");
  queue.clear();
  assertEquals(list().map(({ id }) => id), ["q2", "q3"]);
  assertEquals(list(), before);
  assertEquals([queue.size, queue.queued], [0, []]);
});

Deno.test("MessageQueue: a message that onChange takes back is not announced", () => {
  let arrivals = 0;
  const queue: MessageQueue = new MessageQueue({
    newId: createIdCounter(),
    onChange: () => queue.size > 1 && queue.take(),
  });
  queue.onArrival(() => arrivals++);
  queue.add(a);
  queue.add(b);
  assertEquals([arrivals, queue.queued.map(({ id }) => id)], [2, ["q2"]]);
  const own: MessageQueue = new MessageQueue({ onChange: () => own.clear() });
  own.onArrival(() => arrivals++);
  own.add(a);
  assertEquals([arrivals, own.size], [2, 0]);
});

Deno.test("MessageQueue: adding, peeking at and taking messages one by one takes linear time", () => {
  const queue = new MessageQueue({ newId: () => "", onChange: () => queue.snapshot() });
  const count = 300_000;
  const getThreadTime = startThreadTimer();
  for (let index = 0; index < count; index++) queue.add(a);
  let taken = 0;
  while (queue.peek().length > 0) taken += queue.take().length;
  assertEquals(taken, count);
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
});

Deno.test("MessageQueue: cancelling thousands of messages one by one takes little time", () => {
  const queue = new MessageQueue({ newId: createIdCounter() });
  const ids = Array.from({ length: 20_000 }, () => queue.add(a).id);
  queue.take();
  const getThreadTime = startThreadTimer();
  const cancelled = ids.filter((id) => queue.cancel(id));
  assertEquals([cancelled.length, queue.size], [ids.length - 1, 0]);
  // A list that is filtered for each of them takes about a minute; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
});

Deno.test("MessageQueue: add() refuses a value that is no message, which would end up in the history", () => {
  const queue = new MessageQueue();
  for (const value of ["Hello", null, { role: "user", content: "Hello" }, { ...a, metadata: 1n }]) {
    assertThrows(() => queue.add(value as unknown as typeof a), BadRequestError, "Invalid message");
  }
  assertEquals(queue.size, 0);
});
