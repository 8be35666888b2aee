import { assert } from "@std/assert";
import { startThreadTimer } from "./thread_time.ts";

Deno.test("startThreadTimer() counts computations, and no waits", async () => {
  const getThreadTime = startThreadTimer();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const waited = getThreadTime();
  let sum = 0;
  for (let round = 0; round < 3e7; round++) sum += round % 7;
  const computed = getThreadTime() - waited;
  assert(sum > 0 && waited < 50 && computed > 0, `${waited} ms, ${computed} ms`);
});
