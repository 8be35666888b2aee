import { assertEquals, assertThrows } from "@std/assert";
import { ignoreRejections, refusePromise } from "./refuse_promise.ts";

Deno.test("refusePromise() accepts other values", () => {
  for (const value of [undefined, null, 5, "then", { then: 5 }]) refusePromise(value, "now");
});

Deno.test("refusePromise() throws for a promise, and handles its rejection", async () => {
  const rejected = Promise.reject(new Error("late"));
  assertThrows(() => refusePromise(rejected, "now"), TypeError, "now returned a promise");
  await Promise.resolve();
});

Deno.test("refusePromise() passes two functions to a then() that calls either of them", () => {
  const passed: string[] = [];
  const thenable = {
    then: (...functions: unknown[]) => {
      passed.push(...functions.map((value) => typeof value));
    },
  };
  assertThrows(() => refusePromise(thenable, "now"), TypeError);
  assertEquals(passed, ["function", "function"]);
});

Deno.test("ignoreRejections() handles the promises in a value, also behind one that cannot be read", async () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic, "text", new Uint8Array(3), {
    get first() {
      throw new Error("unreadable");
    },
  });
  ignoreRejections([cyclic, [{ deep: Promise.reject(new Error("late")) }], Promise.reject()]);
  ignoreRejections(Promise.reject());
  ignoreRejections(undefined);
  await new Promise((resolve) => setTimeout(resolve, 0));
});
