import { assertEquals } from "@std/assert";
import { userMessage } from "../../../src/core/messages/message.ts";
import { modelSpec } from "../../../src/core/models/model.ts";
import type { Usage } from "../../../src/core/models/usage.ts";
import { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import { readReply } from "../../../src/testing/read_reply.ts";
import { replayFetch } from "../../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "../../../tests/adapters/wire_tests.ts";
import { createOpenAI } from "../../openai/mod.ts";
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

Deno.test("LimitReservation: ignores errors of a limiter that reports, as to a database without a connection", async () => {
  for (const fail of [() => Promise.reject(new Error("lost")), () => throwError("lost")]) {
    const calls: string[] = [];
    const report = (name: string) => () => {
      calls.push(name);
      return fail();
    };
    const limiter = {
      acquire: () => Promise.resolve(),
      observe: report("observe"),
      settle: report("settle"),
      pause: report("pause"),
    };
    const throttled = { status: 429, headers: { "retry-after": "1" }, body: "{}" };
    const cut = 'data: {"choices":[{"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":1}}\n\n';
    const fetch = replayFetch([throttled, cut]);
    const streamFn = createOpenAI({ fetch, limiter, api: "chat", keyless: true });
    const request = createMinimalRequest("acme", "m");
    const first = await readReply(streamFn(request));
    const second = await readReply(streamFn(request));
    assertEquals([first.error?.code, second.error?.code], ["model_throttled", "network_error"]);
    assertEquals(calls, ["observe", "settle", "pause", "observe", "settle"]);
  }
});

function throwError(message: string): never {
  throw new Error(message);
}
