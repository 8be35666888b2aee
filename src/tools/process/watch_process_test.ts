import { assertEquals } from "@std/assert";
import type { RunningProcess } from "./running_process.ts";
import { watchProcess } from "./watch_process.ts";

/** Creates a process that has written some chunks and ended. */
function createEndedProcess(chunks: number): RunningProcess {
  return {
    pid: 0,
    output: ReadableStream.from(
      Array.from({ length: chunks }, (_, index) => new Uint8Array([index])),
    ),
    exited: Promise.resolve({ code: 0, signal: null }),
    terminate: () => Promise.resolve(),
  };
}

Deno.test("watchProcess(): reads the remaining output of a process that has ended", async () => {
  const received: number[] = [];
  const outcome = await watchProcess(createEndedProcess(20), {
    async onOutput([byte = -1]) {
      // Several turns of the event loop, as a write to a file takes.
      await new Promise((resolve) => setTimeout(resolve, 0));
      received.push(byte);
    },
  });
  assertEquals(outcome, { type: "exited", exit: { code: 0, signal: null } });
  assertEquals(received, Array.from({ length: 20 }, (_, index) => index));
});

Deno.test("watchProcess(): does not wait for a process that holds the output open", async () => {
  const ended = createEndedProcess(0);
  const output = new ReadableStream<Uint8Array>();
  const outcome = await watchProcess({ ...ended, output }, { onOutput() {} });
  assertEquals(outcome.type, "exited");
});
