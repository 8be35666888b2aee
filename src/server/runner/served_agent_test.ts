import { assertEquals, assertRejects } from "@std/assert";
import { ManualClock } from "../../testing/mod.ts";
import { disposeServed } from "./served_agent.ts";

Deno.test("disposeServed(): waits for a disposal, and not for one that does not end", async () => {
  const clock = new ManualClock();
  let isDisposed = false;
  const served = {
    [Symbol.asyncDispose]: () => {
      isDisposed = true;
      return Promise.resolve();
    },
  };
  await disposeServed(served, clock);
  assertEquals(isDisposed, true);
  const hanging = { [Symbol.asyncDispose]: () => new Promise<never>(() => {}) };
  const disposing = assertRejects(() => disposeServed(hanging, clock), Error, "within 10000 ms");
  clock.advance(10_000);
  await disposing;
});
