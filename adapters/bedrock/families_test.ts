import { assertEquals } from "@std/assert";
import { getModelFamily } from "./families.ts";

/** Model ids, the parts with cache points, whether these last for an hour, and the tool choices that force a call. */
const MODELS:
  readonly (readonly [id: string, cachePoints: string, isLong: boolean, choices: string])[] = [
    ["anthropic.claude-v2:1", "", false, ""],
    ["anthropic.claude-instant-v1", "", false, ""],
    ["anthropic.claude-3-haiku-20240307-v1:0", "", false, "any tool"],
    ["anthropic.claude-3-5-haiku-20241022-v1:0", "system tools messages", false, "any tool"],
    ["us.anthropic.claude-3-7-sonnet-20250219-v1:0", "system tools messages", false, "any tool"],
    ["anthropic.claude-sonnet-4-20250514-v1:0", "system tools messages", false, "any tool"],
    ["anthropic.claude-opus-4-20250514-v1:0", "system tools messages", false, "any tool"],
    ["anthropic.claude-opus-4-1-20250805-v1:0", "system tools messages", false, "any tool"],
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", "system tools messages", true, "any tool"],
    ["anthropic.claude-opus-4-8", "system tools messages", true, "any tool"],
    ["eu.amazon.nova-2-lite-v1:0", "system messages", false, "any tool"],
    ["openai.gpt-oss-120b-1:0", "", false, ""],
    ["us.openai.gpt-6-sol", "", false, "any tool"],
    ["qwen.qwen3-235b-a22b-2507-v1:0", "", false, ""],
    ["mistral.mistral-large-2407-v1:0", "", false, "any"],
    ["meta.llama3-3-70b-instruct-v1:0", "", false, ""],
    ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc", "", false, ""],
  ];

Deno.test("getModelFamily(): returns the caching and the forced calls of each model", () => {
  for (const [id, cachePoints, isLong, choices] of MODELS) {
    const family = getModelFamily(id);
    assertEquals(
      [family.cachePoints.join(" "), family.longCache, family.forcedChoices.join(" ")],
      [cachePoints, isLong, choices],
      id,
    );
  }
});

Deno.test("getModelFamily(): only Claude has media in results, citations and a prefill; Claude, Nova and GPT mix content", () => {
  for (const [id] of MODELS) {
    const { resultMedia, citations, prefill, resultStatus, mixedTurns } = getModelFamily(id);
    const isClaude = /claude-(?!v2|instant)/.test(id);
    assertEquals([resultMedia, citations, prefill], [isClaude, isClaude, isClaude], id);
    const hasStatus = isClaude || id.includes("nova");
    const isMixed = hasStatus || id.includes("gpt-6");
    assertEquals([resultStatus, mixedTurns !== "none"], [hasStatus, isMixed], id);
  }
});

Deno.test("getModelFamily(): Llama and the first models of Mistral do not stream replies with tools", () => {
  const ids = [...MODELS.map(([id]) => id), "us.meta.llama4-scout-17b-instruct-v1:0"];
  assertEquals(ids.filter((id) => !getModelFamily(id).streamsTools), [
    "mistral.mistral-large-2407-v1:0",
    "meta.llama3-3-70b-instruct-v1:0",
    "us.meta.llama4-scout-17b-instruct-v1:0",
  ]);
  assertEquals(getModelFamily("mistral.mistral-large-3-675b-instruct").streamsTools, true);
});

Deno.test("getModelFamily(): GPT accepts neither stop texts nor documents, Qwen no stop texts", () => {
  const select = (isSelected: (family: ReturnType<typeof getModelFamily>) => boolean) =>
    MODELS.map(([id]) => id).filter((id) => isSelected(getModelFamily(id)));
  assertEquals(select(({ stop }) => !stop), [
    "us.openai.gpt-6-sol",
    "qwen.qwen3-235b-a22b-2507-v1:0",
  ]);
  assertEquals(select(({ documents }) => !documents), ["us.openai.gpt-6-sol"]);
});

Deno.test("getModelFamily(): of the models of Mistral, only the large one can be forced to call a tool", () => {
  const ids = ["mistral.mistral-large-3-675b-instruct", "us.mistral.pixtral-large-2502-v1:0"];
  assertEquals(ids.map((id) => getModelFamily(id).forcedChoices), [["any"], []]);
});
