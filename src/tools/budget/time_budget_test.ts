import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import { TimeBudget } from "./time_budget.ts";

Deno.test("TimeBudget: check() and pause() throw when the time is used up", async () => {
  let time = 0;
  const { signal } = new AbortController();
  const budget = new TimeBudget({ work: "The edit", signal, limitMs: 5_000, now: () => time });
  time = 5_000;
  budget.check();
  await budget.pause();
  assertEquals([budget.isExceeded, budget.remainingMs], [false, 0]);
  time = 5_001;
  assertEquals([budget.isExceeded, budget.remainingMs], [true, 0]);
  assertThrows(() => budget.check(), BadRequestError, "The edit takes longer than 5 s");
  await assertRejects(() => budget.pause(), BadRequestError);
  await budget.yield();
});

Deno.test("TimeBudget: yield() lets other tasks run every 15 ms, and rejects when it is aborted", async () => {
  let time = 0;
  const controller = new AbortController();
  const budget = new TimeBudget({
    work: "The search",
    signal: controller.signal,
    now: () => time,
  });
  setTimeout(() => controller.abort(), 0);
  await budget.yield();
  assertEquals(controller.signal.aborted, false);
  time = 15;
  await assertRejects(() => budget.yield(), AbortedError, "The search was cancelled");
});
