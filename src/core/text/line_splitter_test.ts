import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { LineSplitter } from "./line_splitter.ts";

Deno.test("LineSplitter: returns each line when its end arrives", () => {
  const splitter = new LineSplitter();
  const lines = ["", "a", "b\nc\n", "", "\n\nd", "e\r\n", "f"].map((text) => splitter.push(text));
  assertEquals(lines, [[], [], ["ab", "c"], [], ["", ""], ["de\r"], []]);
  assertEquals([splitter.pendingLength, splitter.startsWith("f")], [1, true]);
});

Deno.test("LineSplitter: splits a line of 100 MB that arrives in small parts in linear time", () => {
  const splitter = new LineSplitter();
  const getThreadTime = startThreadTimer();
  for (let part = 0; part < 100_000; part++) splitter.push("x".repeat(1_000));
  assertEquals(splitter.push("\n")[0]?.length, 100_000_000);
  // Takes 0.1 s; quadratic work takes minutes.
  assert(getThreadTime() < 10_000);
});
