/**
 * Lines of standard input.
 *
 * @module
 */

import { DelimiterStream } from "@std/streams/delimiter-stream";

/** Maximum bytes of a line. */
export const MAX_LINE_BYTES = 20_000_000;

const LINE_FEED = 10;

/** Reads lines that end with a line feed, without it, until the end of the input or the abort of the signal. */
export async function* readInputLines(
  bytes: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const lines = bytes.pipeThrough(limitLines())
    .pipeThrough(new DelimiterStream(Uint8Array.of(LINE_FEED)));
  const reader = lines.getReader();
  const aborted = new Promise<undefined>((resolve) => {
    const end = () => resolve(undefined);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  while (true) {
    const read = await Promise.race([reader.read(), aborted]);
    if (!read || read.done) return;
    yield read.value;
  }
}

/** Throws for a line without an end, which would fill the memory. */
function limitLines(): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const lastEnd = chunk.lastIndexOf(LINE_FEED);
      length = lastEnd < 0 ? length + chunk.length : chunk.length - lastEnd - 1;
      if (length > MAX_LINE_BYTES) throw new RangeError(TOO_LONG);
      controller.enqueue(chunk);
    },
  });
}

const TOO_LONG = `a line is longer than ${MAX_LINE_BYTES / 1_000_000} MB`;
