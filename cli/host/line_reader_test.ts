import { assertEquals } from "@std/assert";
import { LineReader } from "./line_reader.ts";

const NEVER_ABORTED = new AbortController().signal;

function createLineReader(...pieces: string[]): LineReader {
  return new LineReader({
    bytes: ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))),
  });
}

Deno.test("readLine(): returns complete lines when the bytes are split anywhere", async () => {
  const lines = createLineReader("ye", "s\r\nno\n", "\nlast");
  const read = async () => await lines.readLine(NEVER_ABORTED);
  assertEquals([await read(), await read(), await read(), await read(), await read()], [
    "yes",
    "no",
    "",
    "last",
    undefined,
  ]);
});

Deno.test("readLine(): returns undefined when the signal is aborted, and keeps the pending line", async () => {
  let type = (_text: string): void => {};
  const bytes = new ReadableStream<Uint8Array>({
    start(controller) {
      type = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const lines = new LineReader({ bytes });
  const interrupt = new AbortController();
  const waiting = lines.readLine(interrupt.signal);
  interrupt.abort();
  assertEquals(await waiting, undefined);
  assertEquals(await lines.readLine(interrupt.signal), undefined);
  type("later\n");
  assertEquals(await lines.readLine(NEVER_ABORTED), "later");
});
