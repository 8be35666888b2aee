import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import { checkModelSpec, isThinkingLevel, type ModelSpec, modelSpec } from "./model.ts";

Deno.test("modelSpec(): thinking is off without budgets by default [1.7]", () => {
  assertEquals(modelSpec("openai/gpt-5"), {
    provider: "openai",
    modelId: "gpt-5",
    thinkingLevel: "off",
  });
});

Deno.test("modelSpec() parses a thinking level after the name", () => {
  const levels = ["off", "minimal", "low", "medium", "high", "extra_high"] as const;
  for (const thinkingLevel of levels) {
    const expected = { provider: "openai", modelId: "gpt-5", thinkingLevel };
    assertEquals(modelSpec(`openai/gpt-5:${thinkingLevel}`), expected);
  }
});

Deno.test("modelSpec() keeps other slashes and colons in the model name", () => {
  const names: Record<string, string> = {
    "ollama/llama3.2:1b": "llama3.2:1b",
    "ollama/llama3.2:1b:high": "llama3.2:1b",
    "openrouter/meta/llama-3:free": "meta/llama-3:free",
    "bedrock/anthropic.claude-v1:0": "anthropic.claude-v1:0",
    "local/:high": ":high",
    "local/model:": "model:",
  };
  for (const [name, modelId] of Object.entries(names)) {
    assertEquals(modelSpec(name).modelId, modelId);
  }
});

Deno.test("modelSpec() throws when the provider or the model is missing", () => {
  for (const name of ["", "gpt-5", "/gpt-5", "openai/", "/"]) {
    assertThrows(
      () => modelSpec(name),
      BadRequestError,
      `Cannot parse the model "${name}": write it as provider/model, such as`,
    );
  }
});

Deno.test("modelSpec() returns a ModelSpec unchanged", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "low" } as const;
  assertStrictEquals(modelSpec(model), model);
});

Deno.test("checkModelSpec() says how to pass a name where only a model is accepted", () => {
  assertThrows(
    () => checkModelSpec("openai/gpt-5" as unknown as ModelSpec),
    BadRequestError,
    'pass modelSpec("openai/gpt-5")',
  );
});

Deno.test("isThinkingLevel() is true for thinking levels only", () => {
  assertEquals(["off", "extra_high", "High", "max", ""].map(isThinkingLevel), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
