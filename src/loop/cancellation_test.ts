import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../core/errors.ts";
import { Cancellation, GRACE_MS } from "./cancellation.ts";

/** A sleep that the test ends. */
function gatedSleep(): {
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  waits: number[];
  wake: () => void;
  sleepers: () => number;
} {
  const wakers = new Set<() => void>();
  const waits: number[] = [];
  return {
    waits,
    sleepers: () => wakers.size,
    wake: () => wakers.forEach((wake) => wake()),
    sleep: (milliseconds, signal) => {
      waits.push(milliseconds);
      return new Promise((resolve) => {
        const wake = (): void => {
          wakers.delete(wake);
          resolve();
        };
        wakers.add(wake);
        signal?.addEventListener("abort", wake);
      });
    },
  };
}

const never = new Promise<never>(() => {});
const unused = () => Promise.reject(new Error("sleep() must not be called"));

Deno.test("abort() fires the signal and calls every listener once, with its reason", () => {
  const cancellation = new Cancellation({ sleep: unused });
  const calls: unknown[] = [];
  cancellation.onAbort((reason) => calls.push(reason));
  const stop = cancellation.onAbort(() => calls.push("stopped"));
  stop();
  assertEquals(cancellation.aborted, false);
  cancellation.abort("first");
  cancellation.abort("second");
  assertEquals([calls, cancellation.aborted, cancellation.reason], [["first"], true, "first"]);
  assertEquals(cancellation.signal.reason, "first");
  cancellation.onAbort((reason) => calls.push(reason));
  assertEquals(calls, ["first", "first"], "a late listener is called at once");
});

Deno.test("abort() without a reason uses an AbortedError", () => {
  const cancellation = new Cancellation({ sleep: unused });
  cancellation.abort();
  assertEquals(AbortedError.is(cancellation.reason), true);
});

Deno.test("Cancellation: follows the caller's signal until dispose()", () => {
  const controller = new AbortController();
  const followed = new Cancellation({ signal: controller.signal, sleep: unused });
  const released = new Cancellation({ signal: controller.signal, sleep: unused });
  released.dispose();
  controller.abort("enough");
  assertEquals([followed.reason, released.aborted], ["enough", false]);
  const late = new Cancellation({ signal: controller.signal, sleep: unused });
  assertEquals(late.reason, "enough");
});

Deno.test("child() is aborted with its parent, and not the other way round", () => {
  const parent = new Cancellation({ sleep: unused });
  const first = parent.child();
  const second = parent.child();
  const disposed = parent.child();
  disposed.dispose();
  first.abort("first");
  assertEquals([parent.aborted, second.aborted], [false, false]);
  parent.abort("parent");
  assertEquals([first.reason, second.reason, disposed.aborted], ["first", "parent", false]);
  assertEquals(parent.child().reason, "parent");
});

Deno.test("untilAborted() and withGrace() return the result of settled work, also after an abort", async () => {
  const { sleep } = gatedSleep();
  const cancellation = new Cancellation({ sleep });
  assertEquals(await cancellation.untilAborted(Promise.resolve(1)), 1);
  assertEquals(await cancellation.withGrace(Promise.resolve(2)), 2);
  await assertRejects(() => cancellation.withGrace(Promise.reject(new Error("no"))), Error, "no");
  const work = Promise.withResolvers<number>();
  const graced = cancellation.withGrace(work.promise);
  cancellation.abort();
  work.resolve(3);
  assertEquals(await graced, 3);
});

Deno.test("untilAborted() rejects on abort, withGrace() after the grace period", async () => {
  const { sleep, waits, wake, sleepers } = gatedSleep();
  const cancellation = new Cancellation({ sleep });
  const left = cancellation.untilAborted(never);
  const graced = cancellation.withGrace(never);
  cancellation.abort("enough");
  await assertRejects(() => left, AbortedError);
  assertEquals([waits, sleepers()], [[GRACE_MS], 1]);
  wake();
  await assertRejects(() => graced, AbortedError);
});

Deno.test("withGrace() leaves no timer when the work settles in time", async () => {
  const { sleep, sleepers } = gatedSleep();
  const cancellation = new Cancellation({ sleep });
  const work = Promise.withResolvers<void>();
  const graced = cancellation.withGrace(work.promise);
  cancellation.abort();
  assertEquals(sleepers(), 1);
  work.resolve();
  await graced;
  assertEquals(sleepers(), 0);
});

Deno.test("withGrace() ignores a rejection after the grace period", async () => {
  const cancellation = new Cancellation({ sleep: unused });
  const work = Promise.withResolvers<void>();
  const left = cancellation.untilAborted(work.promise);
  cancellation.abort();
  await assertRejects(() => left, AbortedError);
  work.reject(new Error("too late"));
  await Promise.resolve();
});
