import { assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../core/errors.ts";
import { Cancellation, GRACE_MS } from "./cancellation.ts";

/** A sleep that ends when the test says so. */
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
const unused = () => Promise.reject(new Error("Nobody should sleep"));

Deno.test("an abort tells its signal and every listener once, with its reason", () => {
  const cancellation = new Cancellation({ sleep: unused });
  const told: unknown[] = [];
  cancellation.onAbort((reason) => told.push(reason));
  const stop = cancellation.onAbort(() => told.push("stopped"));
  stop();
  assertEquals(cancellation.aborted, false);
  cancellation.abort("first");
  cancellation.abort("second");
  assertEquals([told, cancellation.aborted, cancellation.reason], [["first"], true, "first"]);
  assertEquals(cancellation.signal.reason, "first");
  cancellation.onAbort((reason) => told.push(reason));
  assertEquals(told, ["first", "first"], "who comes late is told at once");
});

Deno.test("an abort without a reason has an AbortedError for one", () => {
  const cancellation = new Cancellation({ sleep: unused });
  cancellation.abort();
  assertEquals(AbortedError.is(cancellation.reason), true);
});

Deno.test("the caller's abort is the run's, until the run lets go of it", () => {
  const controller = new AbortController();
  const followed = new Cancellation({ signal: controller.signal, sleep: unused });
  const released = new Cancellation({ signal: controller.signal, sleep: unused });
  released.dispose();
  controller.abort("enough");
  assertEquals([followed.reason, released.aborted], ["enough", false]);
  const late = new Cancellation({ signal: controller.signal, sleep: unused });
  assertEquals(late.reason, "enough");
});

Deno.test("a child is aborted with its parent, but not the other way round", () => {
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

Deno.test("work that is done is given as it is, also after an abort that it was faster than", async () => {
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

Deno.test("work under an abort is left at once, or after the grace", async () => {
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

Deno.test("a grace that is not needed leaves no timer", async () => {
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

Deno.test("work that fails after it was left behind troubles nobody", async () => {
  const cancellation = new Cancellation({ sleep: unused });
  const work = Promise.withResolvers<void>();
  const left = cancellation.untilAborted(work.promise);
  cancellation.abort();
  await assertRejects(() => left, AbortedError);
  work.reject(new Error("too late"));
  await Promise.resolve();
});
