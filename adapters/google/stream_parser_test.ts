import { assertEquals } from "@std/assert";
import { GoogleStreamParser } from "./stream_parser.ts";

const ERROR = {
  error: { code: 499, message: "The operation was cancelled.", status: "CANCELLED" },
};

/** The frames of a body that comes in pieces of a size. */
function parseFrames(body: string, size = Infinity): unknown[] {
  const parser = new GoogleStreamParser();
  const bytes = new TextEncoder().encode(body);
  const frames: unknown[] = [];
  const keep = (json: string) => frames.push(JSON.parse(json));
  for (let start = 0; start < bytes.length; start += size) {
    parser.feed(bytes.subarray(start, start + size), keep);
  }
  parser.end(keep);
  return frames;
}

Deno.test("an error between the events is a frame, pretty or not, in whatever pieces it comes", () => {
  for (const text of [JSON.stringify(ERROR), JSON.stringify(ERROR, null, 2)]) {
    for (const size of [Infinity, 1, 7]) {
      for (const lineEnd of ["\n", "\r\n"]) {
        const body = `data: {"a":1}\n\n${text}\n`.replaceAll("\n", lineEnd);
        assertEquals(parseFrames(body, size), [{ a: 1 }, ERROR]);
      }
    }
  }
});

Deno.test("an error without a last line end is a frame, too", () => {
  assertEquals(parseFrames(JSON.stringify(ERROR, null, 2)), [ERROR]);
});

Deno.test("stray words that are no JSON are no frame", () => {
  assertEquals(parseFrames('upstream }\n\ndata: {"a":1}\n\n'), [{ a: 1 }]);
});
