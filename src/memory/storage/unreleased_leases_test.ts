import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { UnreleasedLeases } from "./unreleased_leases.ts";

Deno.test("UnreleasedLeases: keeps a lease that is added while an earlier one is released", async () => {
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => 0 });
  leases.add("s", "first");
  const answer = createDeferred<void>();
  const tokens: string[] = [];
  const release = async (_id: string, token: string) => {
    tokens.push(token);
    await answer.promise;
  };
  const releasing = leases.release({ release }, "s");
  leases.add("s", "second");
  answer.resolve();
  await releasing;
  await leases.release({ release }, "s");
  assertEquals(tokens, ["first", "second"]);
  assertEquals(leases.size, 0);
});

Deno.test("UnreleasedLeases: keeps the leases that a storage fails to release", async () => {
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => 0 });
  leases.add("s", "first");
  leases.add("other", "third");
  leases.add("s", "second");
  const tokens: string[] = [];
  const release = (_id: string, token: string) => {
    tokens.push(token);
    const isUnreachable = tokens.length === 2;
    return isUnreachable ? Promise.reject(new Error("unreachable")) : Promise.resolve();
  };
  await assertRejects(() => leases.release({ release }, "s"), Error, "unreachable");
  await leases.release({ release }, "s");
  assertEquals(tokens, ["first", "second", "second"]);
  assertEquals(leases.size, 1);
});

Deno.test("UnreleasedLeases: removes the leases that have ended", () => {
  let time = 0;
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => time });
  for (; time < 100; time++) leases.add(`session ${time}`, `token ${time}`);
  assertEquals(leases.size, 20);
});

Deno.test("UnreleasedLeases: remembers the last 100 released leases of a session, until they have ended", async () => {
  let time = 0;
  const leases = new UnreleasedLeases({ durationMs: 10, now: () => time });
  const tokens: string[] = [];
  const release = (_id: string, token: string) => {
    tokens.push(token);
    return Promise.resolve();
  };
  for (let number = 0; number < 120; number++) {
    leases.add("s", `token ${number}`);
    await leases.release({ release }, "s");
  }
  tokens.length = 0;
  assertEquals(await leases.releaseAgain({ release }, "s"), true);
  assertEquals([tokens.length, tokens[0], tokens.at(-1)], [100, "token 20", "token 119"]);
  time = 20;
  assertEquals(await leases.releaseAgain({ release }, "s"), false);
});
