import { assertEquals } from "@std/assert";
import { userMessage } from "../core/message.ts";
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
