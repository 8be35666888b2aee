/**
 * The behaviour of `@std/streams` that the project relies on, for JSR's package and the one in `scripts/offline/`.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { DelimiterStream } from "@std/streams/delimiter-stream";
import { LimitedBytesTransformStream } from "@std/streams/limited-bytes-transform-stream";
import { mergeReadableStreams } from "@std/streams/merge-readable-streams";
import { TextLineStream } from "@std/streams/text-line-stream";
import { toText } from "@std/streams/to-text";

function createByteStream(...chunks: number[][]): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks.map((bytes) => new Uint8Array(bytes)));
}

Deno.test("@std/streams: toText() decodes characters that are split between chunks", async () => {
  assertEquals(await toText(createByteStream([0xe2, 0x82], [0xac])), "€");
  assertEquals(await toText(createByteStream([0x61, 0xe2])), "a\ufffd");
  assertEquals(await toText(createByteStream()), "");
});

Deno.test("@std/streams: LimitedBytesTransformStream fails with a RangeError above the limit", async () => {
  const read = (limit: number) =>
    toText(
      createByteStream([0x61, 0x62], [0x63]).pipeThrough(
        new LimitedBytesTransformStream(limit, { error: true }),
      ),
    );
  assertEquals(await read(3), "abc");
  await assertRejects(() => read(2), RangeError);
});

Deno.test("@std/streams: LimitedBytesTransformStream passes an error of its source on", async () => {
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError("reset")),
  });
  const limited = source.pipeThrough(new LimitedBytesTransformStream(9, { error: true }));
  await assertRejects(() => toText(limited), TypeError, "reset");
});

Deno.test("@std/streams: TextLineStream returns lines without line breaks, and the last one without any", async () => {
  const chunks = ["on", "e\r", "\n\ntw", "o\nthree"];
  const lines = ReadableStream.from(chunks).pipeThrough(new TextLineStream());
  assertEquals(await Array.fromAsync(lines), ["one", "", "two", "three"]);
});

Deno.test("@std/streams: mergeReadableStreams() ends after all streams, and fails with one of them", async () => {
  const merged = mergeReadableStreams(ReadableStream.from([1, 2]), ReadableStream.from([3]));
  assertEquals((await Array.fromAsync(merged)).toSorted(), [1, 2, 3]);
  const failing = new ReadableStream({
    pull: (controller) => controller.error(new Error("broken")),
  });
  await assertRejects(
    () => Array.fromAsync(mergeReadableStreams(ReadableStream.from([1]), failing)),
    Error,
    "broken",
  );
});

Deno.test("@std/streams: DelimiterStream splits bytes wherever chunks end, and returns the rest", async () => {
  const text = "a\nbc\n\nd";
  for (let size = 1; size <= text.length; size++) {
    const bytes = new TextEncoder().encode(text);
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, index) => bytes.subarray(index * size, (index + 1) * size),
    );
    const lines = ReadableStream.from(chunks).pipeThrough(new DelimiterStream(Uint8Array.of(10)));
    const parts = await Array.fromAsync(lines, (line) => new TextDecoder().decode(line));
    assertEquals(parts, ["a", "bc", "", "d"]);
  }
});
