import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { defaultPorts } from "./ports.ts";

const { sleep, newId, now, random } = defaultPorts;

Deno.test("sleep wakes at its time, and at once on abort, without leaving anything behind", async () => {
  await sleep(1);
  await sleep(1_000, AbortSignal.abort());
  const controller = new AbortController();
  const sleeping = sleep(1_000, controller.signal);
  controller.abort();
  await sleeping;
});

Deno.test("a time that no timer can count is as long as a timer can be, not none at all", async () => {
  const controller = new AbortController();
  let woken = false;
  const sleeping = sleep(Number.MAX_SAFE_INTEGER, controller.signal).then(() => woken = true);
  await sleep(5);
  assertEquals(woken, false);
  controller.abort();
  await sleeping;
});

Deno.test("ids differ, chance lies in [0, 1), and the clock is the platform's", () => {
  assertNotEquals(newId("run"), newId("run"));
  const chance = random();
  assert(chance >= 0 && chance < 1);
  assert(Math.abs(now() - Date.now()) < 1_000);
});
