import { assert } from "@std/assert";
import { startThreadTimer } from "./thread_time.ts";

Deno.test("startThreadTimer() counts computations, and no waits", async () => {
  const getThreadTime = startThreadTimer();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const waited = getThreadTime();
  let sum = 0;
  for (let round = 0; round < 3e8; round++) sum += round % 7;
  const computed = getThreadTime() - waited;
  assert(sum > 0 && waited < 200 && computed > 50, `${waited} ms, ${computed} ms`);
});
