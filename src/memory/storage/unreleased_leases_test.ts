import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { UnreleasedLeases } from "./unreleased_leases.ts";

Deno.test("UnreleasedLeases: keeps a lease that is added while an earlier one is released", async () => {
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => 0 });
  leases.add("s", "first");
  const answer = createDeferred<void>();
  const tokens: string[] = [];
  const releasing = leases.release({
    release: async (_id, token) => {
      tokens.push(token);
      await answer.promise;
    },
  }, "s");
  leases.add("s", "second");
  answer.resolve();
  await releasing;
  await leases.release({ release: async (_id, token) => void tokens.push(token) }, "s");
  assertEquals(tokens, ["first", "second"]);
  assertEquals(leases.size, 0);
});

Deno.test("UnreleasedLeases: keeps the leases that a storage fails to release", async () => {
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => 0 });
  leases.add("s", "first");
  leases.add("other", "third");
  leases.add("s", "second");
  const isReleased = (token: string) => token === "first";
  const release = async (_id: string, token: string) => {
    await Promise.resolve();
    if (!isReleased(token)) throw new Error("unreachable");
  };
  await assertRejects(() => leases.release({ release }, "s"), Error, "unreachable");
  const tokens: string[] = [];
  await leases.release({ release: async (_id, token) => void tokens.push(token) }, "s");
  assertEquals(tokens, ["second"]);
  assertEquals(leases.size, 1);
});

Deno.test("UnreleasedLeases: removes the leases that have ended", () => {
  let time = 0;
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => time });
  for (; time < 100; time++) leases.add(`session ${time}`, `token ${time}`);
  assertEquals(leases.size, 20);
});
