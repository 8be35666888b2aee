import { assert, assertEquals, assertFalse } from "@std/assert";
import { createOpenAI, type OpenAIOptions } from "../../adapters/openai/mod.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import { createReply, prompt, richRequest, TOOLS } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "openai", modelId, thinkingLevel };
}

function sendToOpenAI(request: StreamRequest, options: OpenAIOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createOpenAI({ fetch, ...options }), request);
}

interface PromptSettings extends OpenAIOptions {
  readonly options?: StreamOptions;
}

function sendPrompt(
  spec: ModelSpec,
  { options = {}, ...adapter }: PromptSettings = {},
): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  const context = { ...request.context, messages: [prompt("Hi")] };
  return sendToOpenAI({ ...request, context }, adapter);
}

function getWarningCodes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

const LOCAL = { baseUrl: "http://localhost:1234/v1" };

Deno.test("the rich conversation is the golden request for a chat completion", async () => {
  const { url, headers, body, warnings } = await sendToOpenAI(richRequest(createModel("gpt-4o")));
  assertEquals(url, "https://api.openai.com/v1/chat/completions");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(warnings, []);
  assertGolden(body, "openai/chat_request.json");
});

Deno.test("the rich conversation is the golden request to the Responses API", async () => {
  const { url, body, warnings } = await sendToOpenAI(richRequest(createModel("gpt-5.4", "high")));
  assertEquals(url, "https://api.openai.com/v1/responses");
  assertEquals(warnings, []);
  assertGolden(body, "openai/responses_request.json");
});

Deno.test("B 73: another provider's thinking, signatures and items are left out", async () => {
  const from = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
  for (const api of ["chat", "responses"] as const) {
    const { body } = await sendToOpenAI(richRequest(createModel("gpt-5.4"), { from }), { api });
    for (const mark of ["c2lnbmF0dXJl", "ZW5jcnlwdGVk", "commentary", "I need the files"]) {
      assertFalse(JSON.stringify(body).includes(mark), `${api}: ${mark}`);
    }
  }
});

Deno.test("the API is the one that suits the model, and chat where the server is another", async () => {
  const urlOf = async (spec: ModelSpec, options?: PromptSettings) =>
    (await sendPrompt(spec, options)).url;
  const openai = "https://api.openai.com/v1";
  assertEquals(await urlOf(createModel("gpt-5")), `${openai}/responses`);
  assertEquals(await urlOf(createModel("gpt-4o-mini")), `${openai}/chat/completions`);
  assertEquals(await urlOf(createModel("gpt-new")), `${openai}/responses`);
  assertEquals(await urlOf(createModel("gpt-5"), { api: "chat" }), `${openai}/chat/completions`);
  assertEquals(
    await urlOf(createModel("gpt-5"), LOCAL),
    "http://localhost:1234/v1/chat/completions",
  );
  assertEquals(
    await urlOf(createModel("gpt-5"), { ...LOCAL, api: "responses" }),
    "http://localhost:1234/v1/responses",
  );
});

Deno.test("each level of thinking becomes an effort that the model has", async () => {
  const levels = ["off", "minimal", "low", "medium", "high", "extra_high"] as const;
  const effortsOf = async (modelId: string, options?: PromptSettings) => {
    const found: unknown[] = [];
    for (const level of levels) {
      const { body } = await sendPrompt(createModel(modelId, level), { api: "chat", ...options });
      found.push(body["reasoning_effort"]);
    }
    return found;
  };
  assertEquals(await effortsOf("gpt-5.4"), ["none", "low", "low", "medium", "high", "xhigh"]);
  assertEquals(await effortsOf("gpt-5"), ["minimal", "minimal", "low", "medium", "high", "high"]);
  assertEquals(await effortsOf("o3"), ["low", "low", "low", "medium", "high", "high"]);
  assertEquals(await effortsOf("gpt-4o"), Array(6).fill(undefined));
  assertEquals(await effortsOf("a-local-model", LOCAL), [
    undefined,
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
  ]);
});

Deno.test("reasoning is asked for encrypted, and summed up when it is wanted", async () => {
  const thinking = await sendPrompt(createModel("gpt-5.4", "high"));
  assertEquals(thinking.body["reasoning"], { effort: "high", summary: "auto" });
  assertEquals(thinking.body["include"], ["reasoning.encrypted_content"]);
  const off = await sendPrompt(createModel("gpt-5.4"));
  assertEquals(off.body["reasoning"], { effort: "none" });
});

Deno.test("the limit of the reply goes into the field that the server knows", async () => {
  const options = { maxTokens: 100 };
  assertEquals(
    (await sendPrompt(createModel("gpt-4o"), { options })).body["max_completion_tokens"],
    100,
  );
  assertEquals(
    (await sendPrompt(createModel("gpt-4o"), { options, ...LOCAL })).body["max_tokens"],
    100,
  );
  assertEquals(
    (await sendPrompt(createModel("gpt-5"), { options })).body["max_output_tokens"],
    100,
  );
  const more = await sendPrompt(createModel("gpt-4o"), { options: { maxTokens: 1_000_000 } });
  assertEquals([more.body["max_completion_tokens"], getWarningCodes(more)], [16_384, [
    "max_tokens_lowered",
  ]]);
});

Deno.test("a temperature goes where it is taken, and is told of elsewhere", async () => {
  const options = { temperature: 0.5 };
  assertEquals((await sendPrompt(createModel("gpt-4o"), { options })).body["temperature"], 0.5);
  for (const api of ["chat", "responses"] as const) {
    const request = await sendPrompt(createModel("gpt-5"), { options, api });
    assertEquals([request.body["temperature"], getWarningCodes(request)], [
      undefined,
      ["temperature_left_out"],
    ]);
  }
});

Deno.test("the tool choice is mapped", async () => {
  const choices = async (api: "chat" | "responses") => {
    const found: unknown[] = [];
    for (const toolChoice of ["auto", "none", "required", { name: "list.all" }] as const) {
      found.push(
        (await sendPrompt(createModel("gpt-4o"), { api, options: { toolChoice } }))
          .body["tool_choice"],
      );
    }
    return found;
  };
  const name = "list_all_01wet6z2";
  assertEquals(await choices("chat"), [
    "auto",
    "none",
    "required",
    { type: "function", function: { name } },
  ]);
  assertEquals(await choices("responses"), [
    "auto",
    "none",
    "required",
    { type: "function", name },
  ]);
});

Deno.test("A 133: a schema for the reply is sent, strict where it can be; without one nothing is", async () => {
  const closed = { type: "object", properties: {}, additionalProperties: false };
  const open = { type: "object", properties: { a: { type: "string" } } };
  const formatOf = async (
    responseSchema: typeof closed | typeof open,
    api: "chat" | "responses",
  ) => {
    const { body } = await sendPrompt(createModel("gpt-4o"), { api, options: { responseSchema } });
    return body[api === "chat" ? "response_format" : "text"];
  };
  assertEquals(await formatOf(closed, "chat"), {
    type: "json_schema",
    json_schema: { name: "response", schema: closed, strict: true },
  });
  assertEquals(await formatOf(open, "responses"), {
    format: { type: "json_schema", name: "response", schema: open, strict: false },
  });
  const loose = await sendPrompt(createModel("gpt-4-turbo"), {
    options: { responseSchema: closed },
  });
  assertEquals(getWarningCodes(loose), ["response_schema_left_out"]);
  const { body } = await sendPrompt(createModel("gpt-4o"));
  assertFalse("response_format" in body);
});

Deno.test("the cache gets the conversation's name, and is asked to keep where it can", async () => {
  const options = { sessionId: "session-1", cache: "long" } as const;
  const { body } = await sendPrompt(createModel("gpt-5.4"), { options });
  assertEquals([body["prompt_cache_key"], body["prompt_cache_retention"]], ["session-1", "24h"]);
  const other = await sendPrompt(createModel("o3"), { options });
  assertEquals([other.body["prompt_cache_retention"], getWarningCodes(other)], [
    undefined,
    ["cache_left_out"],
  ]);
  assertFalse(
    "prompt_cache_key" in (await sendPrompt(createModel("x"), { options, ...LOCAL })).body,
  );
});

Deno.test("Claude behind OpenRouter gets marks of what to cache, and asks for its price", async () => {
  const request = richRequest({
    provider: "openrouter",
    modelId: "anthropic/claude-x",
    thinkingLevel: "high",
  });
  const { body } = await sendToOpenAI(request, { baseUrl: "https://openrouter.ai/api/v1" });
  assertEquals(body["reasoning"], { effort: "high" });
  assertEquals(body["usage"], { include: true });
  const marks = JSON.stringify(body["messages"]).match(/"cache_control"/g);
  assertEquals(marks?.length, 2);
});

Deno.test("reasoning goes back as reasoning_content within an answer, not after it", async () => {
  const deepseek = { provider: "deepseek", modelId: "deepseek-v4" };
  const thinking = { type: "thinking", thinking: "Hm.", signature: "reasoning_content" } as const;
  const call = { type: "tool_call", id: "c", name: "read_file", arguments: {} } as const;
  const request = richRequest({ ...deepseek, thinkingLevel: "high" });
  const bodyOf = async (messages: StreamRequest["context"]["messages"]) => {
    const context = { ...request.context, messages };
    return (await sendToOpenAI({ ...request, context }, { baseUrl: "https://api.deepseek.com" }))
      .body;
  };
  const now = [prompt("Hi"), createReply(deepseek, [thinking, call])];
  const body = await bodyOf(now);
  assert(JSON.stringify(body["messages"]).includes('"reasoning_content":"Hm."'));
  assertEquals(body["thinking"], { type: "enabled" });
  const later = await bodyOf([...now, prompt("And?")]);
  assertFalse(JSON.stringify(later["messages"]).includes("reasoning_content"));
});

Deno.test("a model without eyes gets a note for each image, and that is told", async () => {
  const request = await sendToOpenAI(richRequest(createModel("o3-mini")));
  assertEquals(getWarningCodes(request), ["images_left_out"]);
  assert(JSON.stringify(request.body).includes("an image that this model cannot see"));
  assertFalse(JSON.stringify(request.body).includes("base64"));
});

Deno.test("B 65: empty content makes no invalid request", async () => {
  const request = richRequest(createModel("gpt-4o"));
  const messages = [prompt("", " "), createReply(createModel("gpt-4o"), []), prompt("Hi")];
  for (const api of ["chat", "responses"] as const) {
    const context = { systemPrompt: "", messages, tools: [] };
    const { body } = await sendToOpenAI({ ...request, context }, { api });
    assertEquals(body[api === "chat" ? "messages" : "input"], [{
      role: "user",
      content: api === "chat" ? "Hi" : [{ type: "input_text", text: "Hi" }],
    }]);
    assertFalse("tools" in body);
  }
});

Deno.test("the same tools make the same prompt, in whatever order they come", async () => {
  const request = richRequest(createModel("gpt-4o"));
  const reversed = { ...request.context, tools: [...TOOLS].reverse() };
  assertEquals(
    (await sendToOpenAI({ ...request, context: reversed })).body,
    (await sendToOpenAI(request)).body,
  );
});

Deno.test("5.3: the key is sent as a bearer token, and none where none is needed", async () => {
  const { headers } = await sendPrompt(createModel("gpt-4o"), {
    options: { apiKey: " sk-with-spaces\n" },
  });
  assertEquals(headers.get("authorization"), "Bearer sk-with-spaces");
  const keyless = await sendPrompt(createModel("x"), {
    ...LOCAL,
    keyless: true,
    options: { apiKey: "" },
  });
  assertEquals(keyless.headers.get("authorization"), null);
});
