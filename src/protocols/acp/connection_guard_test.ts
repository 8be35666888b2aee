import { assertEquals } from "@std/assert";
import { ConnectionGuard } from "./connection_guard.ts";

Deno.test("ConnectionGuard: drops answers to unknown requests, and second answers", async () => {
  const answers = [1, 1, 2].map((id) => ({ jsonrpc: "2.0", id, result: {} }));
  const { readable, writable } = new ConnectionGuard().check({
    readable: ReadableStream.from(answers),
    writable: new WritableStream(),
  });
  const writer = writable.getWriter();
  await writer.write({ jsonrpc: "2.0", id: 1, method: "session/request_permission" });
  assertEquals(await Array.fromAsync(readable), [answers[0]]);
});
