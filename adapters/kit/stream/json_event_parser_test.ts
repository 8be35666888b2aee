import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { JsonEventParser } from "./json_event_parser.ts";

const ERROR = {
  error: { code: 499, message: "The operation was cancelled.", status: "CANCELLED" },
};

/** Parses a body that arrives in chunks of `size` bytes. */
function parseFrames(body: string, size = Infinity): unknown[] {
  const parser = new JsonEventParser();
  const bytes = new TextEncoder().encode(body);
  const frames: unknown[] = [];
  const onFrame = (json: string) => frames.push(JSON.parse(json));
  for (let start = 0; start < bytes.length; start += size) {
    parser.feed(bytes.subarray(start, start + size), onFrame);
  }
  parser.end(onFrame);
  return frames;
}

Deno.test("JsonEventParser: emits an error between events, on one line or several, for any chunk size", () => {
  for (const text of [JSON.stringify(ERROR), JSON.stringify(ERROR, null, 2)]) {
    for (const size of [Infinity, 1, 7]) {
      for (const lineEnd of ["\n", "\r\n"]) {
        const body = `data: {"a":1}\n\n${text}\n`.replaceAll("\n", lineEnd);
        assertEquals(parseFrames(body, size), [{ a: 1 }, ERROR]);
      }
    }
  }
});

Deno.test("JsonEventParser: emits an error without a final line end", () => {
  assertEquals(parseFrames(JSON.stringify(ERROR, null, 2)), [ERROR]);
});

Deno.test("JsonEventParser: ignores text that is not JSON", () => {
  assertEquals(parseFrames('upstream }\n\ndata: {"a":1}\n\n'), [{ a: 1 }]);
});

Deno.test("JsonEventParser: takes seconds at most, not minutes, for a line of 500 KB", () => {
  const getThreadTime = startThreadTimer();
  assertEquals(parseFrames(`error:${" ".repeat(500_000)}\u2028`), []);
  assert(getThreadTime() < 10_000);
});

Deno.test("JsonEventParser: emits an error when its last line arrives, not only at the end of the body", () => {
  const parser = new JsonEventParser();
  const frames: unknown[] = [];
  const onFrame = (json: string) => frames.push(JSON.parse(json));
  parser.feed(new TextEncoder().encode(`${JSON.stringify(ERROR, null, 2)}\n`), onFrame);
  assertEquals(frames, [ERROR]);
  parser.end(onFrame);
  assertEquals(frames.length, 1);
});

Deno.test("JsonEventParser: ignores empty data and white space around data", () => {
  assertEquals(parseFrames('data:\n\ndata\n\ndata:  {"a":1} \n\ndata: \n\n'), [{ a: 1 }]);
});
