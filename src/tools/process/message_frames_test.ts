import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { encodeFrame, FrameDecoder } from "./message_frames.ts";

const MESSAGES = ["ready", { bytes: new Uint8Array([1, 2, 3]), list: [undefined, null, "ü"] }, 0];

Deno.test("FrameDecoder: decodes messages that arrive in chunks of any size", () => {
  const frames = MESSAGES.map((message) => [...encodeFrame(message)]).flat();
  for (const size of [1, 2, 3, 5, 7, 64, frames.length]) {
    const decoder = new FrameDecoder();
    const messages: unknown[] = [];
    for (let start = 0; start < frames.length; start += size) {
      messages.push(...decoder.push(new Uint8Array(frames.slice(start, start + size))));
    }
    assertEquals(messages, MESSAGES, `chunks of ${size} bytes`);
  }
});

Deno.test("FrameDecoder: rejects a message that is too long before it is complete", () => {
  const decoder = new FrameDecoder(1_000_000);
  const frame = encodeFrame("a".repeat(1_000_001));
  assertThrows(
    () => decoder.push(frame.subarray(0, 10)),
    BadRequestError,
    "its result has more than 1 MB",
  );
});
