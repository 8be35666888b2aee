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

Deno.test("ConnectionGuard: drops cancellations that name no session, and nothing else", async () => {
  const cancel = (params: unknown) => ({ jsonrpc: "2.0", method: "session/cancel", params });
  const valid = [
    cancel({ sessionId: "s" }),
    // Gets an error as its answer.
    { ...cancel({}), id: 1 },
    { jsonrpc: "2.0", method: "nothing" },
  ];
  const { readable } = new ConnectionGuard().check({
    readable: ReadableStream.from([
      cancel(undefined),
      cancel(null),
      cancel([]),
      cancel({}),
      cancel({ sessionId: 7 }),
      ...valid,
    ]),
    writable: new WritableStream(),
  });
  assertEquals(await Array.fromAsync(readable), valid);
});
