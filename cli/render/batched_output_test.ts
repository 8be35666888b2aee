import { assertEquals, assertRejects } from "@std/assert";
import { BatchedOutput } from "./batched_output.ts";

/** Creates an output whose writes are settled by the test. */
function createSlowOutput() {
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

Deno.test("BatchedOutput: combines text that arrives during a write into the next one", async () => {
  const output = createSlowOutput();
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

Deno.test("BatchedOutput: write() waits when more than 64 Ki characters are pending", async () => {
  const output = createSlowOutput();
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

Deno.test("BatchedOutput: the next call that waits rejects when a write failed", async () => {
  const output = createSlowOutput();
  const batch = new BatchedOutput(output);
  await batch.write("a");
  output.writes[0]?.settle.reject(new Error("No space left"));
  await assertRejects(() => batch.flush(), Error, "No space left");
  await assertRejects(() => batch.write("b".repeat(70_000)), Error, "No space left");
});
