import { assertEquals } from "@std/assert";
import { toChatCost, toChatUsage } from "./usage.ts";

Deno.test("toChatCost(): reads dollars, and the ticks of xAI, of which 10,000,000,000 are a dollar", () => {
  assertEquals(toChatCost({ cost: 0.25 })?.total, 0.25);
  assertEquals(toChatCost({ cost_in_usd_ticks: 12_500_000_000 })?.total, 1.25);
  assertEquals(toChatCost({ cost: 0.25, cost_in_usd_ticks: 1 })?.total, 0.25);
  assertEquals(toChatCost({ cost: 0 })?.total, 0);
  assertEquals(toChatCost({ cost: null }), undefined);
  assertEquals(toChatCost({}), undefined);
});

Deno.test("toChatUsage(): reads the cached tokens of Moonshot and the written ones of LiteLLM", () => {
  const counts = { prompt_tokens: 1000, completion_tokens: 5, total_tokens: 1005 };
  assertEquals(toChatUsage({ ...counts, cached_tokens: 600 }), {
    input: 400,
    output: 5,
    cacheRead: 600,
    cacheWrite: 0,
    total: 1005,
  });
  const details = { cached_tokens: 300, cache_creation_tokens: 200 };
  assertEquals(toChatUsage({ ...counts, prompt_tokens_details: details }), {
    input: 500,
    output: 5,
    cacheRead: 300,
    cacheWrite: 200,
    total: 1005,
  });
});
