import { assertEquals, assertMatch } from "@std/assert";
import { createXai, type XaiOptions } from "../../adapters/xai/mod.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { createReply, prompt, richRequest } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "xai", modelId, thinkingLevel };
}

function sendToXai(request: StreamRequest, options: XaiOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createXai({ fetch, ...options }), request);
}

function sendPrompt(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sendToXai({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

Deno.test("createXai(): chat completions request of the rich conversation matches the golden file", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const request = richRequest(createModel("grok-3-mini", "low"), { options });
  const { url, headers, body, warnings } = await sendToXai(request);
  assertEquals(url, "https://api.x.ai/v1/chat/completions");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(headers.get("x-grok-conv-id"), "session-1");
  assertEquals(warnings.map(({ code }) => code), ["unknown_model"]);
  assertGolden(body, "xai/chat_request.json");
});

Deno.test("createXai(): Responses API request of the rich conversation matches the golden file", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const { url, headers, body, warnings } = await sendToXai(
    richRequest(createModel("grok-4.7", "extra_high"), { options }),
  );
  assertEquals(url, "https://api.x.ai/v1/responses");
  assertEquals(headers.get("x-grok-conv-id"), null);
  assertEquals(warnings, []);
  assertGolden(body, "xai/responses_request.json");
});

Deno.test("createXai(): calls the API of the options, else of the catalog", async () => {
  const getUrl = async (spec: ModelSpec, options?: XaiOptions) =>
    (await sendToXai(richRequest(spec), options)).url.replace("https://api.x.ai/v1/", "");
  assertEquals(await getUrl(createModel("grok-4.6")), "responses");
  assertEquals(await getUrl(createModel("grok-code-fast-1")), "chat/completions");
  assertEquals(await getUrl(createModel("grok-4.6"), { api: "chat" }), "chat/completions");
  assertEquals(await getUrl(createModel("grok-code-fast-1"), { api: "responses" }), "responses");
});

Deno.test("createXai(): maps thinking levels to supported efforts", async () => {
  const getEfforts = async (modelId: string) => {
    const fields: unknown[] = [];
    for (const level of ["off", "minimal", "medium", "extra_high"] as const) {
      fields.push((await sendPrompt(createModel(modelId, level))).body["reasoning"]);
    }
    return fields.map((reasoning) => reasoning && Reflect.get(Object(reasoning), "effort"));
  };
  assertEquals(await getEfforts("grok-4.7"), ["low", "low", "medium", "xhigh"]);
  assertEquals(await getEfforts("grok-4.3"), ["none", "low", "medium", "high"]);
  assertEquals(await getEfforts("grok-build-0.1"), Array(4).fill(undefined));
  const unsupported = await sendPrompt(createModel("grok-build-0.1", "high"));
  assertEquals(unsupported.warnings.map(({ code }) => code), ["thinking_left_out"]);
});

Deno.test("createXai(): encodes a session id that is not a valid header value in x-grok-conv-id", async () => {
  const { headers } = await sendPrompt(createModel("grok-3-mini"), { sessionId: "Zürich\n1" });
  assertMatch(headers.get("x-grok-conv-id") ?? "", /^Z_rich_1_[a-z0-9]{8}$/);
});

Deno.test("createXai(): sends encrypted reasoning back to the same model only", async () => {
  const spec = createModel("grok-4.7", "high");
  const data = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
  const reply = createReply(spec, [
    { type: "extension", typeName: "openai.reasoning", data },
    { type: "text", text: "Yes." },
  ]);
  const request = richRequest(spec);
  const getInput = async (sent: typeof reply) => {
    const messages = [prompt("Hi"), sent, prompt("And?")];
    const { body } = await sendToXai({ ...request, context: { ...request.context, messages } });
    return JSON.stringify(body["input"]);
  };
  assertEquals((await getInput(reply)).includes("ZW5j"), true);
  assertEquals((await getInput({ ...reply, modelId: "grok-4.6" })).includes("ZW5j"), false);
});

Deno.test("createXai(): images of types other than PNG and JPEG, which xAI rejects, are omitted with a warning", async () => {
  const createImage = (mediaType: string) =>
    ({ type: "image", source: { type: "base64", mediaType, data: "AAAA" } }) as const;
  for (const api of ["chat", "responses"] as const) {
    const send = (mediaType: string) => {
      const messages = [prompt("What is this?", createImage(mediaType))];
      const context = { systemPrompt: "", messages, tools: [] };
      return sendToXai({ ...richRequest(createModel("grok-4.7")), context }, { api });
    };
    for (const mediaType of ["image/png", "image/jpeg", "image/jpg"]) {
      const { body, warnings } = await send(mediaType);
      assertEquals(warnings, [], `${api}: ${mediaType}`);
      assertMatch(JSON.stringify(body), /data:image\/(?:png|jpeg);base64,AAAA/);
    }
    for (const mediaType of ["image/gif", "image/webp"]) {
      const { body, warnings } = await send(mediaType);
      assertEquals(warnings.map(({ message }) => message), [
        `The provider does not accept images of type ${mediaType}: 1 omitted`,
      ]);
      assertEquals(JSON.stringify(body).includes("AAAA"), false);
    }
  }
});

Deno.test("createXai(): a request without a session and without caching has no header of a conversation", async () => {
  const { headers } = await sendPrompt(createModel("grok-3"), { cache: "off" });
  assertEquals(headers.get("x-grok-conv-id"), null);
});

Deno.test("createXai(): sends the service tiers that xAI has, and leaves out the others with a warning", async () => {
  for (const api of ["chat", "responses"] as const) {
    const send = async (serviceTier: StreamOptions["serviceTier"]) => {
      const options = { serviceTier };
      const { body, warnings } = await sendToXai(
        richRequest(createModel("grok-4.7"), { options }),
        { api },
      );
      return [body["service_tier"], warnings.map(({ code }) => code)];
    };
    assertEquals(await send(undefined), [undefined, []], api);
    assertEquals(await send("auto"), ["default", []], api);
    assertEquals(await send("default"), ["default", []], api);
    assertEquals(await send("priority"), ["priority", ["tier_price_unknown"]], api);
    assertEquals(await send("flex"), [undefined, ["service_tier_left_out"]], api);
  }
});

Deno.test("createXai(): stop texts are sent to models that do not reason; the others reject them", async () => {
  const send = async (modelId: string) => {
    const options = { stop: ["END"] };
    const { body, warnings } = await sendToXai(richRequest(createModel(modelId), { options }), {
      api: "chat",
    });
    return [body["stop"], warnings.map(({ code }) => code)];
  };
  assertEquals(await send("grok-4.20-0309-non-reasoning"), [["END"], []]);
  assertEquals(await send("grok-3"), [["END"], ["unknown_model"]]);
  assertEquals(await send("grok-3-mini"), [undefined, ["unknown_model", "stop_left_out"]]);
  assertEquals(await send("grok-4.6"), [undefined, ["stop_left_out"]]);
  assertEquals(await send("grok-code-fast-1"), [undefined, ["unknown_model", "stop_left_out"]]);
});

Deno.test("createXai(): the verbosity of a reply, which xAI cannot set, is left out with a warning", async () => {
  for (const api of ["chat", "responses"] as const) {
    const options = { verbosity: "low" } as const;
    const request = richRequest(createModel("grok-4.7"), { options });
    const { body, warnings } = await sendToXai(request, { api });
    assertEquals([body["verbosity"], body["text"]], [undefined, undefined], api);
    assertEquals(warnings.map(({ code }) => code), ["verbosity_left_out"], api);
  }
});
