import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../../src/core/errors/errors.ts";
import { createFakeHost, FAKE_TIME } from "../../tests/cli/fake_host.ts";
import { ConfigurationError } from "./cli_error.ts";
import { InterruptHandler } from "./interrupt.ts";

/** Creates a host with a clock that the test sets. */
function createClockedHost() {
  const host = createFakeHost();
  const clock = { milliseconds: 0 };
  return { host: { ...host, now: () => FAKE_TIME + clock.milliseconds }, fake: host, clock };
}

/** Lets the cleanup of an immediate exit run. */
async function flushMicrotasks(): Promise<void> {
  for (let round = 0; round < 5; round++) await Promise.resolve();
}

Deno.test("InterruptHandler: the first signal aborts, a SIGINT at least 500 ms later exits immediately", async () => {
  const { host, fake, clock } = createClockedHost();
  using interrupt = new InterruptHandler(host);
  assertEquals([interrupt.signal.aborted, interrupt.exitCode], [false, undefined]);
  fake.sendSignal("SIGTERM");
  assertEquals([interrupt.signal.reason, interrupt.exitCode], ["SIGTERM", 143]);
  clock.milliseconds = 499;
  fake.sendSignal("SIGINT");
  await flushMicrotasks();
  assertEquals(fake.exitCodes, []);
  clock.milliseconds = 500;
  fake.sendSignal("SIGINT");
  await flushMicrotasks();
  assertEquals(fake.exitCodes, [130]);
  assertEquals([interrupt.signal.reason, interrupt.exitCode], ["SIGTERM", 143]);
});

Deno.test("InterruptHandler: repeated SIGTERM and SIGHUP never exit immediately", async () => {
  const { host, fake, clock } = createClockedHost();
  using _interrupt = new InterruptHandler(host);
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) {
    fake.sendSignal(signal);
    clock.milliseconds += 10_000;
  }
  await flushMicrotasks();
  assertEquals(fake.exitCodes, []);
});

Deno.test("InterruptHandler: an immediate exit waits for the cleanup", async () => {
  const { host, fake, clock } = createClockedHost();
  using interrupt = new InterruptHandler(host);
  const cleanup = Promise.withResolvers<void>();
  interrupt.beforeExit(() => cleanup.promise);
  fake.sendSignal("SIGINT");
  clock.milliseconds = 600;
  fake.sendSignal("SIGINT");
  await flushMicrotasks();
  assertEquals(fake.exitCodes, []);
  cleanup.resolve();
  await flushMicrotasks();
  assertEquals(fake.exitCodes, [130]);
});

Deno.test("InterruptHandler: an immediate exit waits for every cleanup that was not removed", async () => {
  const { host, fake, clock } = createClockedHost();
  using interrupt = new InterruptHandler(host);
  const done: string[] = [];
  const add = (name: string) => interrupt.beforeExit(() => Promise.resolve(void done.push(name)));
  add("first");
  const remove = add("second");
  interrupt.beforeExit(() => Promise.reject(new Error("broken")));
  add("third");
  remove();
  fake.sendSignal("SIGINT");
  clock.milliseconds = 600;
  fake.sendSignal("SIGINT");
  await flushMicrotasks();
  assertEquals([done, fake.exitCodes], [["first", "third"], [130]]);
});

Deno.test("InterruptHandler: stops listening when it is disposed of", () => {
  const { host, fake } = createClockedHost();
  const interrupt = new InterruptHandler(host);
  interrupt[Symbol.dispose]();
  fake.sendSignal("SIGINT");
  assertEquals(interrupt.signal.aborted, false);
});

Deno.test("InterruptHandler: catchInterruption() returns the exit code of the signal that has interrupted an action", async () => {
  const { host, fake } = createClockedHost();
  using interrupt = new InterruptHandler(host);
  const fail = (error: Error) => interrupt.catchInterruption(() => Promise.reject(error));
  await assertRejects(() => fail(new ConfigurationError("no key")), ConfigurationError, "no key");
  fake.sendSignal("SIGTERM");
  assertEquals(await fail(new ConfigurationError("interrupted")), 143);
  assertEquals(await fail(new AbortedError("interrupted")), 143);
  await assertRejects(() => fail(new TypeError("a defect")), TypeError);
  assertEquals(await interrupt.catchInterruption(() => Promise.resolve("done")), "done");
});
