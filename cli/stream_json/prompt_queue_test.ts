import { assertEquals } from "@std/assert";
import { PromptQueue } from "./prompt_queue.ts";

Deno.test("PromptQueue: at most 1,000 prompts wait behind the active one", async () => {
  const started = Promise.withResolvers<void>();
  let runs = 0;
  const queue = new PromptQueue(async () => {
    runs++;
    await started.promise;
    return 0;
  });
  const added = Array.from({ length: 1_002 }, () => queue.add("Hello"));
  assertEquals(added.filter((isAdded) => !isAdded).length, 1);
  assertEquals(added.at(-1), false);
  started.resolve();
  assertEquals([await queue.untilEmpty(), runs], [0, 1_001]);
});
