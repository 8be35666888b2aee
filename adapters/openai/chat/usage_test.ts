import { assertEquals } from "@std/assert";
import { toChatCost } from "./usage.ts";

Deno.test("toChatCost(): reads dollars, and the ticks of xAI, of which 10,000,000,000 are a dollar", () => {
  assertEquals(toChatCost({ cost: 0.25 })?.total, 0.25);
  assertEquals(toChatCost({ cost_in_usd_ticks: 12_500_000_000 })?.total, 1.25);
  assertEquals(toChatCost({ cost: 0.25, cost_in_usd_ticks: 1 })?.total, 0.25);
  assertEquals(toChatCost({ cost: 0 })?.total, 0);
  assertEquals(toChatCost({ cost: null }), undefined);
  assertEquals(toChatCost({}), undefined);
});
