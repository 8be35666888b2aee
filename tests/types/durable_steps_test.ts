/**
 * Type tests: concurrent steps of a durable run may have values of different types. The type checker makes the assertions.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { StepOperation } from "../../src/durable/mod.ts";
import { InProcessEngine } from "../../src/durable/mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";

Deno.test("DurableSteps: all() and race() have the types of the values of their operations", async () => {
  await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const workflow = engine.register("values", async (steps, _input: null) => {
    const [count, name] = await steps.all([
      { name: "count", execute: () => 1 },
      { name: "name", execute: ({ signal }) => Promise.resolve(signal.aborted ? "" : "Ada") },
    ]);
    const total: number = count + 1;
    const upper: string = name.toUpperCase();
    const list: readonly StepOperation<number>[] = [2, 3].map((value) => ({
      name: `value ${value}`,
      execute: () => value,
    }));
    const values: number[] = await steps.all(list);
    const { value } = await steps.race([
      { name: "first", execute: () => "first" },
      { name: "never", execute: () => new Promise<number>(() => {}) },
    ]);
    const winner: string | number = value;
    return { total, upper, values, winner };
  });
  await engine.start();
  const run = await workflow.start(null);
  assertEquals(await run.result(), { total: 2, upper: "ADA", values: [2, 3], winner: "first" });
});
