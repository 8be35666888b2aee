/**
 * Streams that a `for await` loop can read in every browser.
 *
 * @module
 */

/** Adds an iterator to a stream if the runtime has none for streams, as Safari. Leaving a loop early cancels the stream. */
export function toIterable<Stream extends ReadableStream>(stream: Stream): Stream {
  stream[Symbol.asyncIterator] ??= () => iterate(stream);
  return stream;
}

async function* iterate<Chunk>(
  stream: ReadableStream<Chunk>,
): AsyncGenerator<Chunk, undefined, void> {
  const reader = stream.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Has no effect on a stream that has ended; the loop has the error of one that has failed.
    await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}
