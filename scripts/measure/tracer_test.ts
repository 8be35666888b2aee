import { assertEquals, assertThrows } from "@std/assert";
import { getCallChain, trace, traceAsyncGenerator, traceGenerator } from "./tracer.ts";

function readChain(): string[] {
  return getCallChain().map(({ name, isActive }) => isActive ? name : `(${name})`);
}

Deno.test("trace() keeps callers across await, and marks those that returned", async () => {
  let chain: string[] = [];
  const inner = () =>
    trace("inner", async () => {
      await Promise.resolve();
      chain = readChain();
    });
  const start = () => trace("start", () => void (started = inner()));
  let started: Promise<void> | undefined;
  await trace("outer", async () => {
    start();
    await started;
  });
  assertEquals(chain, ["outer", "(start)", "inner"]);
  assertEquals(readChain(), []);
});

Deno.test("trace() ends the frame of a function that throws", async () => {
  let chain: string[] = [];
  let started: Promise<void> | undefined;
  const inner = async () => {
    await Promise.resolve();
    chain = readChain();
  };
  const outer = () => {
    started = trace("inner", inner);
    throw new Error("failure");
  };
  assertThrows(() => trace("outer", outer), Error, "failure");
  await started;
  assertEquals(chain, ["(outer)", "inner"]);
});

Deno.test("traceGenerator(), traceAsyncGenerator(): trace each step as a call from the consumer", async () => {
  const numbers = () =>
    traceGenerator(
      "numbers",
      function* () {
        yield readChain();
      }(),
    );
  const asyncNumbers = () =>
    traceAsyncGenerator(
      "asyncNumbers",
      async function* () {
        await Promise.resolve();
        yield readChain();
      }(),
    );
  assertEquals(trace("consumer", () => [...numbers()]), [["consumer", "numbers"]]);
  assertEquals(await trace("consumer", () => Array.fromAsync(asyncNumbers())), [
    ["consumer", "asyncNumbers"],
  ]);
});
