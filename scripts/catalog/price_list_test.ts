import { assertEquals, assertThrows } from "@std/assert";
import { readPriceList } from "./price_list.ts";

Deno.test("readPriceList(): reads the models, long cache writes and tiers of litellm's list", () => {
  const list = readPriceList({
    sample_spec: { litellm_provider: "one of …", mode: "one of …", input_cost_per_token: 0 },
    "claude-haiku-5-5": {
      litellm_provider: "anthropic",
      mode: "chat",
      input_cost_per_token: 1e-7,
      output_cost_per_token: 5e-7,
      cache_creation_input_token_cost: 1.25e-7,
      cache_creation_input_token_cost_above_1hr: 2e-7,
      input_cost_per_token_above_100k_tokens: 5e-7,
      output_cost_per_token_above_100k_tokens: 2.5e-6,
      cache_creation_input_token_cost_above_1hr_above_100k_tokens: 1e-6,
      input_cost_per_token_above_100k_tokens_batches: 1,
    },
    "gemini/gemini-3.6-flash": {
      litellm_provider: "gemini",
      mode: "chat",
      input_cost_per_token: 1.5e-6,
      output_cost_per_token: 7.5e-6,
      cache_read_input_token_cost: 0,
      input_cost_per_audio_token: 2e-6,
    },
    "gemini/imagen-4": { litellm_provider: "gemini", mode: "image_generation" },
    "acme/a": {
      litellm_provider: "acme",
      mode: "chat",
      input_cost_per_token: 1,
      output_cost_per_token: 1,
    },
  });
  assertEquals(list, {
    name: "litellm",
    prices: [
      {
        provider: "anthropic",
        modelId: "claude-haiku-5-5",
        rates: {
          input: 0.1,
          output: 0.5,
          cacheWrite: 0.125,
          cacheWriteLong: 0.2,
          tiers: [{ input: 0.5, output: 2.5, cacheWriteLong: 1, abovePromptTokens: 100_000 }],
        },
      },
      {
        provider: "google",
        modelId: "gemini-3.6-flash",
        rates: { input: 1.5, output: 7.5, audioInput: 2 },
      },
    ],
  });
});

Deno.test("readPriceList(): reads the models and tiers of the list of models.dev", () => {
  const list = readPriceList({
    "amazon-bedrock": {
      models: {
        "eu.anthropic.claude-opus-5": {
          cost: {
            input: 5.5,
            output: 27.5,
            input_audio: 6,
            cache_read: 0.55,
            cache_write: 6.875,
            tiers: [{ tier: { type: "context", size: 200_000 }, input: 11, output: 40 }],
          },
        },
        "free.model": { cost: { input: 0, output: 0 } },
        "unpriced.model": {},
      },
    },
    acme: { models: { a: { cost: { input: 1, output: 1 } } } },
  });
  assertEquals(list, {
    name: "models.dev",
    prices: [{
      provider: "bedrock",
      modelId: "eu.anthropic.claude-opus-5",
      rates: {
        input: 5.5,
        output: 27.5,
        cacheRead: 0.55,
        cacheWrite: 6.875,
        audioInput: 6,
        tiers: [{ input: 11, output: 40, abovePromptTokens: 200_000 }],
      },
    }],
  });
});

Deno.test("readPriceList(): rejects a list of another format", () => {
  assertThrows(() => readPriceList([]), TypeError, "not a JSON object");
  assertThrows(() => readPriceList({ "gpt-5": { input: 1 } }), TypeError, "neither the format");
});
