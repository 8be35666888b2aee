import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { MISTRAL_DIALECT, toMistralCallId } from "../../adapters/mistral/request.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { createReply, createToolResult, prompt, richRequest } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "mistral", modelId, thinkingLevel };
}

function sendToMistral(request: StreamRequest): Promise<SentRequest> {
  return captureRequest((fetch) => createMistral({ fetch }), request);
}

function sendMessages(
  spec: ModelSpec,
  messages: readonly LlmMessage[],
  options: StreamOptions = {},
): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sendToMistral({ ...request, context: { systemPrompt: "", messages, tools: [] } });
}

function getMessages({ body }: SentRequest): JsonObject[] {
  const { messages } = body;
  return Array.isArray(messages) ? messages.filter(isJsonObject) : [];
}

Deno.test("createMistral(): request of the rich conversation matches the golden file", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const { url, headers, body, warnings } = await sendToMistral(
    richRequest(createModel("mistral-medium-latest", "high"), { options }),
  );
  assertEquals(url, "https://api.mistral.ai/v1/chat/completions");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(warnings, []);
  assertGolden(body, "mistral/request.json");
});

Deno.test("createMistral(): sends no field that Mistral rejects [A136]", async () => {
  const { body } = await sendMessages(createModel("mistral-medium-latest"), [prompt("Hi")], {
    maxTokens: 5,
  });
  assertEquals(Object.keys(body).sort(), [
    "max_tokens",
    "messages",
    "model",
    "prompt_cache_key",
    "reasoning_effort",
    "stream",
  ]);
});

Deno.test("createMistral(): call ids have nine letters and digits, the same in call and result [A136]", async () => {
  const spec = createModel("mistral-medium-latest");
  for (const id of ["gSIMJiOkT", "call_1", "toolu_01ABC", "chatcmpl-tool-9f149c74c42f265b"]) {
    const call = { type: "tool_call", id, name: "list_all", arguments: {} } as const;
    const request = await sendMessages(spec, [
      prompt("Hi"),
      createReply(spec, [call]),
      createToolResult(id, "list_all", [{ type: "text", text: "a" }]),
    ]);
    const [, reply, result] = getMessages(request);
    const calls = reply?.["tool_calls"];
    const [wireCall] = Array.isArray(calls) ? calls : [];
    assertMatch(wireCall.id, /^[A-Za-z0-9]{9}$/);
    assertEquals(result?.["tool_call_id"], wireCall.id);
  }
  assertEquals(toMistralCallId("gSIMJiOkT"), "gSIMJiOkT");
  assert(toMistralCallId("call_1") !== toMistralCallId("call_2"));
});

Deno.test("createMistral(): inserts an assistant message between a tool result and a prompt [A136]", async () => {
  const spec = createModel("mistral-medium-latest");
  const call = { type: "tool_call", id: "gSIMJiOkT", name: "list_all", arguments: {} } as const;
  const request = await sendMessages(spec, [
    prompt("Hi"),
    createReply(spec, [call]),
    createToolResult("gSIMJiOkT", "list_all", [{ type: "text", text: "a" }]),
    prompt("Wait"),
  ]);
  const roles = getMessages(request).map(({ role }) => role);
  assertEquals(roles, ["user", "assistant", "tool", "assistant", "user"]);
});

Deno.test("createMistral(): marks an assistant message at the end as the prefix of the reply", async () => {
  const spec = createModel("mistral-medium-latest");
  const unfinished = createReply(spec, [{ type: "text", text: "One, two" }]);
  const messages = getMessages(await sendMessages(spec, [prompt("Count"), unfinished]));
  assertEquals(messages.at(-1), { role: "assistant", content: "One, two", prefix: true });
});

Deno.test("createMistral(): sends reasoning back as a content part, to the same model only", async () => {
  const spec = createModel("mistral-medium-latest", "high");
  const reply = createReply(spec, [
    { type: "thinking", thinking: "Hm.", signature: "bWFyaw==" },
    { type: "text", text: "Yes." },
  ]);
  const [, own] = getMessages(await sendMessages(spec, [prompt("Hi"), reply, prompt("And?")]));
  assertEquals(own?.["content"], [
    {
      type: "thinking",
      thinking: [{ type: "text", text: "Hm." }],
      closed: true,
      signature: "bWFyaw==",
    },
    { type: "text", text: "Yes." },
  ]);
  const other = { ...reply, modelId: "mistral-small-latest" };
  const [, foreign] = getMessages(await sendMessages(spec, [prompt("Hi"), other, prompt("And?")]));
  assertEquals(foreign?.["content"], "Yes.");
});

Deno.test("createMistral(): maps thinking levels to supported efforts", async () => {
  const getEfforts = async (modelId: string) => {
    const efforts: unknown[] = [];
    for (const level of ["off", "low", "high", "extra_high"] as const) {
      efforts.push(
        (await sendMessages(createModel(modelId, level), [prompt("Hi")])).body["reasoning_effort"],
      );
    }
    return efforts;
  };
  assertEquals(await getEfforts("mistral-medium-latest"), ["none", "high", "high", "high"]);
  assertEquals(await getEfforts("magistral-medium-latest"), Array(4).fill(undefined));
  assertEquals(await getEfforts("mistral-large-latest"), Array(4).fill(undefined));
});

Deno.test("createMistral(): warns about unsupported options", async () => {
  const getCodes = async (spec: ModelSpec, options: StreamOptions) =>
    (await sendMessages(spec, [prompt("Hi")], options)).warnings.map(({ code }) => code);
  const large = createModel("mistral-large-latest", "high");
  assertEquals(await getCodes(large, { cache: "long" }), ["cache_left_out", "thinking_left_out"]);
  assertEquals(await getCodes(createModel("mistral-large-latest"), { extra: { stream: false } }), [
    "extra_left_out",
  ]);
});

Deno.test("createMistral(): sends responseSchema as response_format", async () => {
  const responseSchema = { type: "object", properties: {}, additionalProperties: false };
  const { body } = await sendMessages(createModel("mistral-medium-latest"), [prompt("Hi")], {
    responseSchema,
  });
  assertEquals(body["response_format"], {
    type: "json_schema",
    json_schema: { name: "response", schema: responseSchema, strict: true },
  });
  assertFalse("tools" in body);
});

Deno.test("MISTRAL_DIALECT: marks only a reply without calls as the prefix of the next one", () => {
  const { repairOrder } = MISTRAL_DIALECT;
  const user = { role: "user", content: "Hi" };
  const text = { role: "assistant", content: "x" };
  const call = { role: "assistant", content: null, tool_calls: [{ id: "123456789" }] };
  const result = { role: "tool", content: "y" };
  assertEquals(repairOrder?.([user, text]), [user, { ...text, prefix: true }]);
  assertEquals(repairOrder?.([user, call]), [user, call]);
  const note = { role: "assistant", content: "Noted." };
  assertEquals(repairOrder?.([user, call, result, user]), [user, call, result, note, user]);
  assertEquals(repairOrder?.([text, user]), [text, user]);
});

Deno.test("createMistral(): sends the service tier in Mistral's words, and reports one that it does not have", async () => {
  const send = async (serviceTier: StreamOptions["serviceTier"]) => {
    const model = createModel("mistral-large-latest");
    const { body, warnings } = await sendMessages(model, [prompt("Hi")], { serviceTier });
    return [body["service_tier"], warnings.map(({ code }) => code)];
  };
  assertEquals(await send("auto"), ["auto", []]);
  assertEquals(await send("priority"), ["auto", []]);
  assertEquals(await send("default"), ["standard_only", []]);
  assertEquals(await send("flex"), [undefined, ["service_tier_left_out"]]);
});
