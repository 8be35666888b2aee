import { assertEquals } from "@std/assert";
import { userMessage } from "../core/message.ts";
import { MessageQueue } from "./message_queue.ts";

const [a, b, c] = [userMessage("a", 0), userMessage("b", 0), userMessage("c", 0)];

function countingIds(): () => string {
  let count = 0;
  return () => `q${++count}`;
}

Deno.test("take() returns one message at a time, in order", () => {
  const queue = new MessageQueue({ newId: countingIds() });
  [a, b].forEach((message) => queue.add(message));
  assertEquals([queue.peek(), queue.take(), queue.take(), queue.take()], [[a], [a], [b], []]);
});

Deno.test("take() returns all messages in mode all", () => {
  const queue = new MessageQueue({ mode: "all" });
  [a, b].forEach((message) => queue.add(message));
  assertEquals([queue.peek(), queue.take(), queue.take()], [[a, b], [a, b], []]);
});

Deno.test("cancel() removes a message while it is queued", () => {
  const queue = new MessageQueue({ newId: countingIds() });
  const queued = [a, b, c].map((message) => queue.add(message));
  assertEquals(queued.map(({ id }) => id), ["q1", "q2", "q3"]);
  assertEquals([queue.cancel("q2"), queue.cancel("q2"), queue.cancel("q9")], [true, false, false]);
  assertEquals(queue.queued.map(({ id }) => id), ["q1", "q3"]);
  queue.clear();
  assertEquals(queue.queued, []);
});

Deno.test("onChange is called on every change, and earlier lists do not change", () => {
  let changes = 0;
  const queue = new MessageQueue({ newId: countingIds(), onChange: () => changes++ });
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

Deno.test("onArrival() calls its listener until it is unsubscribed", () => {
  const queue = new MessageQueue();
  let arrivals = 0;
  const stop = queue.onArrival(() => arrivals++);
  queue.add(a);
  queue.take();
  queue.add(b);
  stop();
  queue.add(c);
  assertEquals(arrivals, 2);
});
