import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { ArgumentsReader } from "./arguments_reader.ts";

Deno.test("ArgumentsReader: writes integers with all digits of the event, and leaves texts unchanged", () => {
  const reader = new ArgumentsReader();
  const event = '{"calls":[{"id":9007199254740993},{"id":"9007199254740992"},{"id":12}]}';
  const { calls } = JSON.parse(event);
  assertEquals(calls.map((args: unknown) => reader.toText(args, event)), [
    '{"id":9007199254740993}',
    '{"id":"9007199254740992"}',
    '{"id":12}',
  ]);
  assertEquals(["{}", undefined, null].map((args) => reader.toText(args, event)), ["{}", "", ""]);
});

Deno.test("ArgumentsReader: writes integers of earlier events, of which arguments have a part", () => {
  const reader = new ArgumentsReader();
  reader.readNumbers('{"numberValue":9007199254740993}');
  assertEquals(reader.toText({ id: 9007199254740992 }, "{}"), '{"id":9007199254740993}');
});

Deno.test("ArgumentsReader: reads 50,000 calls of one event in linear time", () => {
  const event = `[${Array(50_000).fill('{"id":1234567890123456789}').join(",")}]`;
  const calls: readonly unknown[] = JSON.parse(event);
  const reader = new ArgumentsReader();
  const getThreadTime = startThreadTimer();
  const texts = new Set(calls.map((args) => reader.toText(args, event)));
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
  assertEquals([...texts], ['{"id":1234567890123456789}']);
});
