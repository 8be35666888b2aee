import { assertEquals } from "@std/assert";
import { BlockWriter } from "../../../src/core/block_writer.ts";
import { userMessage } from "../../../src/core/message.ts";
import { modelSpec } from "../../../src/core/model.ts";
import type { Usage } from "../../../src/core/usage.ts";
import { LimitReservation } from "./limit_reservation.ts";

/** Reserves tokens, settles the reservation with a usage and returns the tokens used. */
async function settle(usage: Usage | undefined): Promise<number[]> {
  const used: number[] = [];
  const limiter = {
    acquire: () => Promise.resolve(),
    observe: () => {},
    settle: (_acquired: number, tokens: number) => used.push(tokens),
  };
  const { signal } = new AbortController();
  const reservation = new LimitReservation(limiter, {
    model: modelSpec("acme/m"),
    context: { systemPrompt: "", messages: [userMessage("Hi", 0)], tools: [] },
    options: {},
    signal,
  });
  await reservation.reserve(new BlockWriter(() => {}), signal);
  reservation.settle(usage);
  reservation.settle(usage);
  return used;
}

Deno.test("LimitReservation: counts input, cache writes and output once, and no cache reads", async () => {
  const usage = { input: 1, output: 10, cacheRead: 100, cacheWrite: 1000, total: 1111 };
  assertEquals(await settle(usage), [1011]);
  assertEquals(await settle(undefined), []);
});
