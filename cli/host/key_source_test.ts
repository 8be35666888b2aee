import { assertEquals } from "@std/assert";
import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { KeySource } from "./key_source.ts";

/** A stream of bytes with the methods of a terminal. */
function createStream(): PassThrough & ReadStream {
  return new PassThrough() as PassThrough & ReadStream;
}

const decode = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

Deno.test("KeySource: reads only what is requested", async () => {
  const stream = createStream();
  const source = new KeySource(stream);
  const first = source.read();
  stream.write("one");
  assertEquals(decode(await first), "one");
  assertEquals(stream.isPaused(), true);
  stream.write("two");
  assertEquals(decode(await source.read()), "two");
  stream.end();
  assertEquals(await source.read(), undefined);
});

Deno.test("KeySource: leaves input to other programs while it is paused", async () => {
  const stream = createStream();
  const source = new KeySource(stream);
  const read = source.read();
  source.pause();
  assertEquals(stream.isPaused(), true);
  source.resume();
  assertEquals(stream.isPaused(), false);
  stream.write("key");
  assertEquals(decode(await read), "key");
  source.pause();
  source.resume();
  assertEquals(stream.isPaused(), true, "nothing is requested");
});

Deno.test("KeySource: a terminal that fails to read is at the end of its input", async () => {
  const stream = createStream();
  const source = new KeySource(stream);
  const read = source.read();
  stream.destroy(new Error("EIO"));
  assertEquals(await read, undefined);
});
