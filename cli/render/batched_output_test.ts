import { assertEquals, assertRejects } from "@std/assert";
import { BatchedOutput } from "./batched_output.ts";

/** An output whose writes end when they are told to. */
function slowOutput() {
  const writes: { readonly text: string; readonly settle: PromiseWithResolvers<void> }[] = [];
  return {
    writes,
    write(content: string | Uint8Array): Promise<void> {
      const settle = Promise.withResolvers<void>();
      writes.push({ text: String(content), settle });
      return settle.promise;
    },
  };
}

Deno.test("what comes while a write is under way is written with the next one", async () => {
  const output = slowOutput();
  const batch = new BatchedOutput(output);
  for (const piece of ["a", "b", "c"]) await batch.write(piece);
  assertEquals(output.writes.map(({ text }) => text), ["a"]);
  output.writes[0]?.settle.resolve();
  await Promise.resolve();
  assertEquals(output.writes.map(({ text }) => text), ["a", "bc"]);
  output.writes[1]?.settle.resolve();
  await batch.flush();
  await batch.write("d");
  assertEquals(output.writes.at(-1)?.text, "d");
});

Deno.test("when a lot is waiting, the writer waits", async () => {
  const output = slowOutput();
  const batch = new BatchedOutput(output);
  await batch.write("a");
  let done = false;
  const writing = batch.write("b".repeat(70_000)).then(() => done = true);
  await Promise.resolve();
  assertEquals(done, false);
  output.writes[0]?.settle.resolve();
  await Promise.resolve();
  output.writes[1]?.settle.resolve();
  await writing;
});

Deno.test("a failure is told to whoever waits next", async () => {
  const output = slowOutput();
  const batch = new BatchedOutput(output);
  await batch.write("a");
  output.writes[0]?.settle.reject(new Error("No space left"));
  await assertRejects(() => batch.flush(), Error, "No space left");
  await assertRejects(() => batch.write("b".repeat(70_000)), Error, "No space left");
});
