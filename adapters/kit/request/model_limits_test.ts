import { assertEquals } from "@std/assert";
import type { StreamOptions } from "../../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import {
  resolveMaxTokens,
  resolveSessionId,
  resolveStop,
  resolveTemperature,
  resolveTopP,
  warnTierPrice,
} from "./model_limits.ts";
import type { WarningSink } from "./warnings.ts";

const ENTRY: CatalogEntry = {
  contextWindow: 100_000,
  maxOutput: 1000,
  thinking: { type: "none" },
  images: false,
  strictSchema: false,
  rates: { input: 1, output: 2 },
};

/** Returns a value and the codes of its warnings. */
function withWarnings<Value>(resolve: (sink: WarningSink) => Value): [Value, string[]] {
  const codes: string[] = [];
  return [resolve({ warning: (code) => void codes.push(code) }), codes];
}

Deno.test("resolveStop(): omits empty texts and those beyond the maximum, with a warning", () => {
  const resolve = (stop: readonly string[] | undefined) =>
    withWarnings((sink) => resolveStop(stop === undefined ? {} : { stop }, 2, sink));
  assertEquals(resolve(undefined), [undefined, []]);
  assertEquals(resolve(["a", "b"]), [["a", "b"], []]);
  assertEquals(resolve(["\n", " "]), [["\n", " "], []]);
  assertEquals(resolve(["a", "\n", ""]), [["a", "\n"], ["stop_left_out"]]);
  assertEquals(resolve(["", "a", "b", "c"]), [["a", "b"], ["stop_left_out"]]);
  assertEquals(resolve([""]), [undefined, ["stop_left_out"]]);
  assertEquals(resolve([]), [undefined, []]);
});

Deno.test("resolveTemperature(), resolveTopP(): omit the option for a model that does not support it, with a warning", () => {
  const options = { temperature: 0, topP: 0 };
  const fixed = { ...ENTRY, temperature: false };
  for (const entry of [undefined, ENTRY]) {
    assertEquals(withWarnings((sink) => resolveTemperature(options, entry, sink)), [0, []]);
    assertEquals(withWarnings((sink) => resolveTopP(options, entry, sink)), [0, []]);
  }
  assertEquals(withWarnings((sink) => resolveTemperature(options, fixed, sink)), [
    undefined,
    ["temperature_left_out"],
  ]);
  assertEquals(withWarnings((sink) => resolveTopP(options, fixed, sink)), [
    undefined,
    ["top_p_left_out"],
  ]);
  assertEquals(withWarnings((sink) => resolveTemperature({}, fixed, sink)), [undefined, []]);
});

Deno.test("resolveMaxTokens(): lowers the option to the limit of a known model, with a warning", () => {
  const resolve = (maxTokens: number, entry: CatalogEntry | undefined) =>
    withWarnings((sink) => resolveMaxTokens({ maxTokens }, entry, sink));
  assertEquals(resolve(1000, ENTRY), [1000, []]);
  assertEquals(resolve(1001, ENTRY), [1000, ["max_tokens_lowered"]]);
  assertEquals(resolve(1001, undefined), [1001, []]);
});

Deno.test("warnTierPrice(): warns about tiers with other prices, if the model has prices", () => {
  const warn = (options: StreamOptions, entry: CatalogEntry | undefined) =>
    withWarnings((sink) => warnTierPrice(options, entry, sink))[1];
  assertEquals(warn({ serviceTier: "flex" }, ENTRY), ["tier_price_unknown"]);
  assertEquals(warn({ serviceTier: "priority" }, ENTRY), ["tier_price_unknown"]);
  assertEquals(warn({ serviceTier: "default" }, ENTRY), []);
  assertEquals(warn({ serviceTier: "auto" }, ENTRY), []);
  assertEquals(warn({}, ENTRY), []);
  assertEquals(warn({ serviceTier: "flex" }, undefined), []);
});

Deno.test("resolveSessionId(): is the session id, or a hash of the start of the conversation while caching is on", () => {
  const resolve = (options: StreamOptions, systemPrompt = "") =>
    resolveSessionId({ options, context: { systemPrompt, messages: [], tools: [] } });
  assertEquals(resolve({ sessionId: "s 1" })?.startsWith("s_1_"), true);
  assertEquals(resolve({ sessionId: "s1", cache: "off" }), "s1");
  assertEquals(resolve({ cache: "off" }), undefined);
  assertEquals(resolve({})?.length, 14);
  assertEquals(resolve({}) === resolve({}, "Be brief."), false);
});

Deno.test("warnTierPrice(): reports a tier without a price, and none whose fee the rates have", () => {
  const warn = (requests?: Readonly<Record<string, number>>) => {
    const entry = { ...ENTRY, rates: { input: 1, output: 2, requests } };
    return withWarnings((sink) => warnTierPrice({ serviceTier: "flex" }, entry, sink))[1];
  };
  assertEquals(warn(), ["tier_price_unknown"]);
  assertEquals(warn({ priorityRequests: 0 }), ["tier_price_unknown"]);
  assertEquals(warn({ flexRequests: 0 }), []);
});
