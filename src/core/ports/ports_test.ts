import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { defaultPorts, MAX_TIMER_MS, realSleep, resolvePorts } from "./ports.ts";

const { sleep, newId, now, random } = defaultPorts;

Deno.test("defaultPorts.sleep() resolves after its time, or immediately on abort, and leaves no timer", async () => {
  await sleep(1);
  await sleep(1_000, AbortSignal.abort());
  const controller = new AbortController();
  const sleeping = sleep(1_000, controller.signal);
  controller.abort();
  await sleeping;
});

Deno.test("defaultPorts.sleep() does not treat a time beyond the timer limit as 0", async () => {
  const controller = new AbortController();
  let resolved = false;
  const sleeping = sleep(Number.MAX_SAFE_INTEGER, controller.signal).then(() => resolved = true);
  await sleep(5);
  assertEquals(resolved, false);
  controller.abort();
  await sleeping;
});

Deno.test("realSleep(): waits longer than the limit of a timer", async () => {
  const { setTimeout } = globalThis;
  const delays: unknown[] = [];
  const setTimer = (callback: () => void, delay?: number) => {
    delays.push(delay);
    return setTimeout(callback, 0);
  };
  Object.assign(globalThis, { setTimeout: setTimer });
  await realSleep(2 * MAX_TIMER_MS + 1).finally(() => Object.assign(globalThis, { setTimeout }));
  assertEquals(delays, [MAX_TIMER_MS, MAX_TIMER_MS, 1]);
});

Deno.test("defaultPorts: ids differ, random numbers are in [0, 1), and the clock is Date.now", () => {
  assertNotEquals(newId("run"), newId("run"));
  const value = random();
  assert(value >= 0 && value < 1);
  const earliest = Date.now();
  const time = now();
  assert(earliest <= time && time <= Date.now());
});

Deno.test("resolvePorts() replaces a random number outside of [0, 1), an empty id and a time that is not finite", () => {
  const outside = [-Number.EPSILON, 1, 1.5, NaN, Infinity, "0.5" as unknown as number];
  for (const value of outside) {
    const chosen = resolvePorts({ random: () => value }).random();
    assert(chosen >= 0 && chosen < 1, `${value}: ${chosen}`);
  }
  for (const value of [0, 0.5, 1 - Number.EPSILON]) {
    assertEquals(resolvePorts({ random: () => value }).random(), value);
  }
  assertNotEquals(resolvePorts({ newId: () => "" }).newId("run"), "");
  assertEquals(resolvePorts({ newId: (kind) => kind }).newId("run"), "run");
  assert(Number.isFinite(resolvePorts({ now: () => Infinity }).now()));
  assertEquals(resolvePorts({ now: () => 7 }).now(), 7);
});
