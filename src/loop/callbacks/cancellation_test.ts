import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../../core/errors/errors.ts";
import { Cancellation, GRACE_MS } from "./cancellation.ts";

/** Creates a sleep that ends when `wake()` is called. */
function createManualSleep(): {
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
const unexpectedSleep = () => Promise.reject(new Error("sleep() must not be called"));

Deno.test("Cancellation: abort() aborts the signal and calls every listener once, with its reason", () => {
  const cancellation = new Cancellation({ sleep: unexpectedSleep });
  const calls: unknown[] = [];
  cancellation.onAbort((reason) => calls.push(reason));
  const unsubscribe = cancellation.onAbort(() => calls.push("unsubscribed"));
  unsubscribe();
  assertEquals(cancellation.aborted, false);
  cancellation.abort("first");
  cancellation.abort("second");
  assertEquals([calls, cancellation.aborted, cancellation.reason], [["first"], true, "first"]);
  assertEquals(cancellation.signal.reason, "first");
  cancellation.onAbort((reason) => calls.push(reason));
  assertEquals(
    calls,
    ["first", "first"],
    "a listener that is added after the abort is called immediately",
  );
});

Deno.test("Cancellation: abort() uses an AbortedError when no reason is passed", () => {
  const cancellation = new Cancellation({ sleep: unexpectedSleep });
  cancellation.abort();
  assertEquals(AbortedError.is(cancellation.reason), true);
});

Deno.test("Cancellation: follows the caller's signal until dispose()", () => {
  const controller = new AbortController();
  const followed = new Cancellation({ signal: controller.signal, sleep: unexpectedSleep });
  const released = new Cancellation({ signal: controller.signal, sleep: unexpectedSleep });
  released.dispose();
  controller.abort("enough");
  assertEquals([followed.reason, released.aborted], ["enough", false]);
  const late = new Cancellation({ signal: controller.signal, sleep: unexpectedSleep });
  assertEquals(late.reason, "enough");
});

Deno.test("Cancellation: a child is aborted with its parent, but does not abort it", () => {
  const parent = new Cancellation({ sleep: unexpectedSleep });
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

Deno.test("Cancellation: dispose() of a child stops its timer, and no longer limits what is awaited", async () => {
  const { sleep, sleepers } = createManualSleep();
  const child = new Cancellation({ sleep }).child();
  child.abort();
  void child.withGrace(never);
  assertEquals(sleepers(), 1);
  child.dispose();
  assertEquals(sleepers(), 0);
  assertEquals(await child.withGrace(Promise.resolve(1)), 1);
  assertEquals(sleepers(), 0);
});

Deno.test("Cancellation: untilAborted() and withGrace() settle with the work, withGrace() also after an abort", async () => {
  const { sleep } = createManualSleep();
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

Deno.test("Cancellation: untilAborted() rejects on abort, withGrace() after the grace period", async () => {
  const { sleep, waits, wake, sleepers } = createManualSleep();
  const cancellation = new Cancellation({ sleep });
  const abandoned = cancellation.untilAborted(never);
  const graced = cancellation.withGrace(never);
  cancellation.abort("enough");
  await assertRejects(() => abandoned, AbortedError);
  assertEquals([waits, sleepers()], [[GRACE_MS], 1]);
  wake();
  await assertRejects(() => graced, AbortedError);
});

Deno.test("Cancellation: withGrace() leaves no timer when the work settles in time", async () => {
  const { sleep, sleepers } = createManualSleep();
  const cancellation = new Cancellation({ sleep });
  const work = Promise.withResolvers<void>();
  const graced = cancellation.withGrace(work.promise);
  cancellation.abort();
  assertEquals(sleepers(), 1);
  work.resolve();
  await graced;
  assertEquals(sleepers(), 0);
});

Deno.test("Cancellation: untilAborted() ignores a rejection of the work after the abort", async () => {
  const cancellation = new Cancellation({ sleep: unexpectedSleep });
  const work = Promise.withResolvers<void>();
  const abandoned = cancellation.untilAborted(work.promise);
  cancellation.abort();
  await assertRejects(() => abandoned, AbortedError);
  work.reject(new Error("too late"));
  await Promise.resolve();
});

Deno.test("Cancellation: dispose() ends the timer also if the caller's signal throws", () => {
  const signal = Object.assign(new EventTarget(), {
    aborted: false,
    removeEventListener: () => {
      throw new Error("no such listener");
    },
  }) as unknown as AbortSignal;
  const { sleep, sleepers } = createManualSleep();
  const cancellation = new Cancellation({ signal, sleep });
  cancellation.abort();
  void cancellation.withGrace(new Promise(() => {}));
  assertEquals(sleepers(), 1);
  cancellation.dispose();
  assertEquals(sleepers(), 0);
});
