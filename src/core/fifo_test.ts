import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../tests/thread_time.ts";
import { Fifo } from "./fifo.ts";

function takeAll<Value>(queue: Fifo<Value>): (Value | undefined)[] {
  return Array.from({ length: queue.size }, () => queue.take());
}

Deno.test("Fifo: returns values in the order in which they were added, also between takes", () => {
  const queue = new Fifo<number>();
  const taken: (number | undefined)[] = [];
  for (let value = 0; value < 100; value++) {
    queue.push(value);
    if (value % 3 > 0) taken.push(queue.take());
  }
  assertEquals(queue.size, 34);
  taken.push(...takeAll(queue));
  assertEquals(taken, Array.from({ length: 100 }, (_, index) => index));
  assertEquals([queue.take(), queue.size], [undefined, 0]);
});

Deno.test("Fifo: prependAll() moves the remaining values of another queue to the front", () => {
  const queue = new Fifo<string>();
  const other = new Fifo<string>();
  for (const value of ["c", "d"]) queue.push(value);
  for (const value of ["0", "a", "b"]) other.push(value);
  other.take();
  queue.prependAll(other);
  assertEquals([other.size, takeAll(queue)], [0, ["a", "b", "c", "d"]]);
});

Deno.test("Fifo: taking 200,000 values takes less than 2 seconds", () => {
  const queue = new Fifo<number>();
  const measure = startThreadTimer();
  for (let value = 0; value < 200_000; value++) queue.push(value);
  while (queue.size > 0) queue.take();
  assert(measure() < 2_000);
});
