import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "./errors.ts";
import { isThinkingLevel, modelSpec, type StopReason, THINKING_LEVELS } from "./model.ts";

Deno.test("1.6 stop reasons and thinking levels are plain strings, the same in JSON", () => {
  const reasons: StopReason[] = ["stop", "length", "tool_use", "aborted", "error"];
  assertEquals(JSON.stringify(reasons), '["stop","length","tool_use","aborted","error"]');
  assertEquals(
    JSON.stringify(THINKING_LEVELS),
    '["off","minimal","low","medium","high","extra_high"]',
  );
});

Deno.test("1.7 a model has no thinking and no budgets unless they are given", () => {
  assertEquals(modelSpec("openai/gpt-5"), {
    provider: "openai",
    modelId: "gpt-5",
    thinkingLevel: "off",
  });
});

Deno.test("a thinking level may follow the name", () => {
  for (const level of THINKING_LEVELS) {
    assertEquals(modelSpec(`openai/gpt-5:${level}`), {
      provider: "openai",
      modelId: "gpt-5",
      thinkingLevel: level,
    });
  }
});

Deno.test("slashes and colons that are no level belong to the model's name", () => {
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

Deno.test("a name without provider or model is refused, with the way to write it", () => {
  for (const name of ["", "gpt-5", "/gpt-5", "openai/", "/"]) {
    assertThrows(
      () => modelSpec(name),
      BadRequestError,
      `Cannot read the model "${name}": write it as provider/model, for example`,
    );
  }
});

Deno.test("a model that is one already stays the same", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "low" } as const;
  assertStrictEquals(modelSpec(model), model);
});

Deno.test("only the six levels are levels", () => {
  assertEquals(["off", "extra_high", "High", "max", ""].map(isThinkingLevel), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
