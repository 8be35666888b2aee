import { assertEquals, assertThrows } from "@std/assert";
import { NetworkError, StreamError } from "../../src/core/errors/errors.ts";
import { EventStreamParser } from "./event_stream_parser.ts";

/** Creates a message whose content is its name, filled up with zeros. */
function createMessage(name: string, length = 16 + name.length): Uint8Array {
  const message = new Uint8Array(length);
  new DataView(message.buffer).setUint32(0, length);
  message.set(new TextEncoder().encode(name), 16);
  return message;
}

function createParser(): EventStreamParser {
  return new EventStreamParser((message) => ({
    type: "event",
    name: new TextDecoder().decode(message.subarray(16)),
    body: "",
  }));
}

Deno.test("EventStreamParser: splits messages in chunks of any size", () => {
  const body = new Uint8Array(["a", "", "ccc"].flatMap((name) => [...createMessage(name)]));
  for (let chunkBytes = 1; chunkBytes <= body.length; chunkBytes++) {
    const parser = createParser();
    const names: string[] = [];
    for (let start = 0; start < body.length; start += chunkBytes) {
      parser.feed(body.subarray(start, start + chunkBytes), ({ name }) => names.push(name));
    }
    parser.end();
    assertEquals(names, ["a", "", "ccc"], `chunks of ${chunkBytes} bytes`);
  }
});

Deno.test("EventStreamParser: rejects a length below 16 bytes or above 24 MiB before the message arrives", () => {
  for (const length of [0, 15, 24 * 2 ** 20 + 1, 2 ** 32 - 1]) {
    const start = new Uint8Array(4);
    new DataView(start.buffer).setUint32(0, length);
    assertThrows(() => createParser().feed(start, () => {}), StreamError, `${length} bytes`);
  }
  createParser().feed(createMessage("", 24 * 2 ** 20).subarray(0, 4), () => {});
});

Deno.test("EventStreamParser: a body that ends within a message is incomplete", () => {
  const parser = createParser();
  parser.feed(createMessage("a").subarray(0, 16), () => {});
  assertThrows(() => parser.end(), NetworkError, "in the middle of a message");
});
