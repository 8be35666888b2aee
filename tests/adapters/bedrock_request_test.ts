import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { type BedrockOptions, createBedrock } from "../../adapters/bedrock/mod.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import { prompt, replyOf, resultOf, richRequest, TOOLS } from "./rich_conversation.ts";
import { assertGolden, type SentRequest, sentRequest } from "./sent_request.ts";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "eu.amazon.nova-2-lite-v1:0";
const LLAMA = "meta.llama3-3-70b-instruct-v1:0";

function model(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "bedrock", modelId, thinkingLevel };
}

function sent(request: StreamRequest, options: BedrockOptions = {}): Promise<SentRequest> {
  return sentRequest((fetch) => createBedrock({ fetch, region: "us-east-1", ...options }), request);
}

function ask(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sent({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

function codes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

function member(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((at, name) => isJsonObject(at) ? at[name] : undefined, value);
}

Deno.test("the rich conversation is the golden request", async () => {
  const { url, headers, body, warnings } = await sent(richRequest(model(CLAUDE, "medium")));
  assertEquals(
    url,
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
  );
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(warnings, []);
  assertGolden(body, "bedrock/request.json");
});

Deno.test("B 73: another provider's thinking, signatures and items are left out", async () => {
  const from = { provider: "openai", modelId: "gpt-5" };
  const { body } = await sent(richRequest(model(LLAMA), { from }));
  assertGolden(body, "bedrock/request_from_openai.json");
});

Deno.test("the result of a tool has a status where the family knows one, and says so in words elsewhere", async () => {
  const result = (body: unknown) => JSON.stringify(body).match(/"toolResult":.{0,400}No such file/);
  const claude = result((await sent(richRequest(model(CLAUDE)))).body)?.[0] ?? "";
  const llama = result((await sent(richRequest(model(LLAMA)))).body)?.[0] ?? "";
  assertFalse(claude.includes("Error: No such file"));
  assert(llama.includes("Error: No such file"));
});

Deno.test("each family is told to think in its own words", async () => {
  const fields = async (modelId: string, level: ThinkingLevel) =>
    member((await ask(model(modelId, level))).body, "additionalModelRequestFields");
  assertEquals(await fields(CLAUDE, "low"), {
    thinking: { type: "enabled", budget_tokens: 4096 },
    anthropic_beta: ["interleaved-thinking-2025-05-14"],
  });
  assertEquals(await fields("anthropic.claude-opus-4-6-v1", "high"), {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high" },
  });
  assertEquals(await fields(NOVA, "minimal"), {
    reasoningConfig: { type: "enabled", maxReasoningEffort: "low" },
  });
  assertEquals(await fields("openai.gpt-oss-120b-1:0", "extra_high"), {
    reasoning_effort: "high",
  });
  assertEquals(await fields(CLAUDE, "off"), undefined);
  const llama = await ask(model(LLAMA, "high"));
  assertEquals(codes(llama), ["thinking_left_out"]);
});

Deno.test("cache points stand where the family takes them", async () => {
  const points = async (modelId: string, options: StreamOptions = {}) => {
    const { body } = await sent(richRequest(model(modelId), { options }));
    const has = (part: unknown) => JSON.stringify(part ?? "").includes("cachePoint");
    return [body["system"], body["toolConfig"], body["messages"]].map(has);
  };
  assertEquals(await points(CLAUDE), [true, true, true]);
  assertEquals(await points(NOVA), [true, false, true]);
  assertEquals(await points(LLAMA), [false, false, false]);
  assertEquals(await points(CLAUDE, { cache: "off" }), [false, false, false]);
});

Deno.test("the longer cache is asked for where there is one", async () => {
  const long = { cache: "long" } as const;
  const claude = await ask(model(CLAUDE), long);
  assert(JSON.stringify(claude.body).includes('"ttl":"1h"'));
  assertEquals(claude.warnings, []);
  assertEquals(codes(await ask(model(NOVA), long)), ["cache_shortened"]);
  assertEquals(codes(await ask(model(LLAMA), long)), []);
});

Deno.test("options become Bedrock's own, and what the model cannot take is told", async () => {
  const schema = { type: "object", properties: {}, additionalProperties: false };
  const full = await ask(model(CLAUDE), {
    temperature: 0.3,
    maxTokens: 500,
    toolChoice: "required",
    responseSchema: schema,
    extra: { requestMetadata: { team: "a" }, inferenceConfig: { topP: 0.9, maxTokens: 1 } },
  });
  assertEquals(member(full.body, "inferenceConfig"), {
    topP: 0.9,
    maxTokens: 500,
    temperature: 0.3,
  });
  assertEquals(member(full.body, "requestMetadata"), { team: "a" });
  assertEquals(member(full.body, "toolConfig", "toolChoice"), { any: {} });
  const jsonSchema = { name: "reply", schema: JSON.stringify(schema) };
  assertEquals(member(full.body, "outputConfig", "textFormat", "structure"), { jsonSchema });
  assertEquals(codes(full), ["extra_left_out"]);

  const named = await ask(model(CLAUDE), { toolChoice: { name: "list.all" } });
  const tool = member(named.body, "toolConfig", "toolChoice", "tool", "name");
  assertMatch(String(tool), /^list_all_[a-z0-9]{8}$/);

  const thinking = await ask(model(CLAUDE, "low"), { temperature: 0.3, maxTokens: 1_000_000 });
  assertEquals(codes(thinking), ["max_tokens_lowered", "temperature_left_out"]);
  assertEquals(codes(await ask(model(LLAMA), { responseSchema: schema })), [
    "response_schema_left_out",
  ]);
});

Deno.test("no tool is offered when none may be called, unless calls are there that need one", async () => {
  const free = await ask(model(CLAUDE), { toolChoice: "none" });
  assertEquals(free.body["toolConfig"], undefined);
  assertEquals(free.warnings, []);
  const bound = await sent(richRequest(model(CLAUDE), { options: { toolChoice: "none" } }));
  assertEquals(codes(bound), ["tool_choice_left_out"]);
  assertEquals(member(bound.body, "toolConfig", "toolChoice"), undefined);
});

Deno.test("calls of tools that are gone keep their tools, as a conversation is refused without", async () => {
  const request = richRequest(model(LLAMA));
  const { body } = await sent({ ...request, context: { ...request.context, tools: [] } });
  const tools = member(body, "toolConfig", "tools");
  const names = Array.isArray(tools) && tools.map((tool) => member(tool, "toolSpec", "name"));
  assertEquals(names, ["list_all_01wet6z2", "read_file"]);
});

Deno.test("images come as bytes or from S3; others leave a note and a warning", async () => {
  const image = (url: string) => ({ type: "image", source: { type: "url", url } }) as const;
  const bitmap = {
    type: "image",
    source: { type: "base64", mediaType: "image/bmp", data: "AA==" },
  } as const;
  const message = prompt(
    image("s3://bucket/a.png"),
    image("data:image/webp;base64,AAAA"),
    image("https://example.com/a.png"),
    bitmap,
  );
  const request = richRequest(model(CLAUDE));
  const context = { ...request.context, messages: [message] };
  const { body, warnings } = await sent({ ...request, context });
  assertEquals(member(member(body, "messages"), "0"), undefined);
  assertEquals(JSON.parse(JSON.stringify(body["messages"]))[0].content.slice(0, 4), [
    { image: { format: "png", source: { s3Location: { uri: "s3://bucket/a.png" } } } },
    { image: { format: "webp", source: { bytes: "AAAA" } } },
    { text: "(an image that could not be sent)" },
    { text: "(an image that could not be sent)" },
  ]);
  assertEquals(warnings.map(({ code }) => code), ["images_left_out", "images_left_out"]);
});

Deno.test("B 65: a conversation of odd turns is one that Bedrock takes", async () => {
  const request = richRequest(model(LLAMA));
  const call = { type: "tool_call", id: "c1", name: "read_file", arguments: {} } as const;
  const messages = [
    replyOf(model(LLAMA), [{ type: "text", text: "Hello?" }]),
    prompt("  "),
    prompt("One."),
    prompt("Two."),
    replyOf(model(LLAMA), [call]),
    resultOf("c1", "read_file", []),
    replyOf(model(LLAMA), [{ type: "text", text: "Done. " }]),
  ];
  const { body } = await sent({
    ...request,
    context: { systemPrompt: "", tools: TOOLS, messages },
  });
  assertEquals(body["system"], undefined);
  assertEquals(body["messages"], [
    { role: "user", content: [{ text: "(The conversation goes on.)" }] },
    { role: "assistant", content: [{ text: "Hello?" }] },
    { role: "user", content: [{ text: "One." }, { text: "Two." }] },
    {
      role: "assistant",
      content: [{ toolUse: { toolUseId: "c1", name: "read_file", input: {} } }],
    },
    {
      role: "user",
      content: [{ toolResult: { toolUseId: "c1", content: [{ text: "(no output)" }] } }],
    },
    { role: "assistant", content: [{ text: "Done. " }] },
    { role: "user", content: [{ text: "Continue." }] },
  ]);
});
