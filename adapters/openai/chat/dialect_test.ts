import { assertEquals } from "@std/assert";
import { type ModelSpec, modelSpec } from "../../../src/core/models/model.ts";
import type { ThinkingAbility } from "../../catalog/catalog_entry.ts";
import { detectDialect, isOpenAIUrl } from "./dialect.ts";

const EFFORTS: ThinkingAbility = { type: "effort", efforts: ["none", "low", "high"] };
const BUDGET: ThinkingAbility = { type: "budget", min: 0, max: 1000 };

function getFields(
  baseUrl: string,
  level: ModelSpec["thinkingLevel"],
  { ability, budgets }: { ability?: ThinkingAbility; budgets?: Record<string, number> } = {},
): unknown {
  const model: ModelSpec = {
    provider: "acme",
    modelId: "m",
    thinkingLevel: level,
    ...(budgets && { thinkingBudgets: budgets }),
  };
  return detectDialect(baseUrl).toThinkingFields(model, ability);
}

Deno.test("detectDialect(): OpenRouter and Vercel have an effort or a budget of thinking", () => {
  for (const url of ["https://openrouter.ai/api/v1", "https://ai-gateway.vercel.sh/v1"]) {
    assertEquals(getFields(url, "high"), { reasoning: { effort: "high" } });
    assertEquals(getFields(url, "high", { budgets: { high: 5000 } }), {
      reasoning: { max_tokens: 5000 },
    });
    assertEquals(getFields(url, "low", { budgets: { high: 5000 } }), {
      reasoning: { effort: "low" },
    });
    assertEquals(getFields(url, "off"), {});
  }
});

Deno.test("detectDialect(): OpenRouter and Vercel get cache marks for Claude models, also for the newest of a name", () => {
  for (const url of ["https://openrouter.ai/api/v1", "https://ai-gateway.vercel.sh/v1"]) {
    const { supportsCacheControl } = detectDialect(url);
    const ids = ["anthropic/claude-x", "~anthropic/claude-latest", "openai/gpt-5", "claude-x"];
    assertEquals(ids.map(supportsCacheControl), [true, true, false, false]);
  }
});

Deno.test("detectDialect(): DeepSeek and z.ai turn thinking on and off", () => {
  for (const url of ["https://api.deepseek.com/v1", "https://API.z.ai/api/paas/v4"]) {
    assertEquals(getFields(url, "off", { ability: EFFORTS }), { thinking: { type: "disabled" } });
    assertEquals(getFields(url, "high"), { thinking: { type: "enabled" } });
    assertEquals(getFields(url, "high", { ability: EFFORTS }), {
      thinking: { type: "enabled" },
      reasoning_effort: "high",
    });
  }
});

Deno.test("detectDialect(): Moonshot has the efforts of Kimi K3, which always thinks", () => {
  const { toThinkingFields } = detectDialect("https://api.moonshot.ai/v1");
  const efforts = {
    off: "low",
    low: "low",
    medium: "high",
    high: "high",
    extra_high: "max",
  } as const;
  for (const [level, effort] of Object.entries(efforts)) {
    const model = modelSpec(`moonshot/kimi-k3:${level}`);
    assertEquals(toThinkingFields(model, undefined), { reasoning_effort: effort }, level);
  }
  assertEquals(toThinkingFields(modelSpec("moonshot/kimi-k2.6"), undefined), {});
  assertEquals(toThinkingFields(modelSpec("moonshot/kimi-k2.6:medium"), undefined), {
    reasoning_effort: "medium",
  });
});

Deno.test("detectDialect(): other servers have an effort, unless the model has none", () => {
  for (const url of ["https://api.openai.com/v1", "http://localhost:8000/v1"]) {
    assertEquals(getFields(url, "high"), { reasoning_effort: "high" });
    assertEquals(getFields(url, "off"), {});
    assertEquals(getFields(url, "off", { ability: EFFORTS }), { reasoning_effort: "none" });
    assertEquals(getFields(url, "high", { ability: BUDGET }), {});
  }
});

Deno.test("isOpenAIUrl(): recognizes the hosts of OpenAI, in every region", () => {
  const hosts = ["api.openai.com", "eu.api.openai.com", "API.OpenAI.com:443"];
  for (const host of hosts) assertEquals(isOpenAIUrl(`https://${host}/v1`), true, host);
  const others = [
    "api.openai.com.evil.example",
    "openai.com",
    "xapi.openai.com",
    "a.example/api.openai.com",
  ];
  for (const host of others) assertEquals(isOpenAIUrl(`https://${host}/v1`), false, host);
});

Deno.test("detectDialect(): gpt-oss has three efforts at every server", () => {
  for (
    const url of ["https://api.groq.com/openai/v1", "https://api.cerebras.ai/v1", "http://a:1/v1"]
  ) {
    const getEffort = (level: string) =>
      detectDialect(url).toThinkingFields(modelSpec(`a/openai/gpt-oss-120b:${level}`), undefined);
    assertEquals(getEffort("minimal"), { reasoning_effort: "low" });
    assertEquals(getEffort("medium"), { reasoning_effort: "medium" });
    assertEquals(getEffort("extra_high"), { reasoning_effort: "high" });
    assertEquals(getEffort("off"), {});
  }
});

Deno.test("detectDialect(): Qwen models of Groq think or do not, and send their thoughts apart from the text", () => {
  const { toThinkingFields } = detectDialect("https://api.groq.com/openai/v1");
  const getFields = (level: string) =>
    toThinkingFields(modelSpec(`groq/qwen/qwen3.6-27b:${level}`), undefined);
  assertEquals(getFields("off"), { reasoning_effort: "none" });
  assertEquals(getFields("high"), { reasoning_effort: "default", reasoning_format: "parsed" });
  assertEquals(toThinkingFields(modelSpec("groq/llama-4:off"), undefined), {});
});
