import { assertEquals, assertFalse } from "@std/assert";
import { type AzureOptions, createAzure } from "../../adapters/azure/mod.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { richRequest } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

const ROOT = "https://my-resource.openai.azure.com";
const MODEL: ModelSpec = { provider: "azure", modelId: "gpt-5-mini", thinkingLevel: "low" };

function sendToAzure(request: StreamRequest, options: AzureOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createAzure({ fetch, baseUrl: ROOT, ...options }), request);
}

Deno.test("createAzure(): chat completions request of the rich conversation matches the golden file", async () => {
  const options = { maxTokens: 100, sessionId: "session-1" };
  const { url, headers, body, warnings } = await sendToAzure(richRequest(MODEL, { options }), {
    api: "chat",
  });
  assertEquals(url, `${ROOT}/openai/v1/chat/completions`);
  assertEquals([headers.get("api-key"), headers.get("authorization")], ["sk-test", null]);
  assertEquals(warnings, []);
  assertGolden(body, "azure/chat_request.json");
});

Deno.test("createAzure(): Responses API request of the rich conversation matches the golden file", async () => {
  const { url, body, warnings } = await sendToAzure(richRequest(MODEL));
  assertEquals(url, `${ROOT}/openai/v1/responses`);
  assertEquals(warnings, []);
  assertGolden(body, "azure/responses_request.json");
});

Deno.test("createAzure(): builds the URL from the base URL, the API and its version", async () => {
  const getUrl = async (options: AzureOptions) =>
    (await sendToAzure(richRequest(MODEL), { api: "chat", ...options })).url
      .replace(`${ROOT}/openai/`, "");
  for (const path of ["", "/", "/openai", "/openai/v1", "/openai/v1/"]) {
    assertEquals(await getUrl({ baseUrl: ROOT + path }), "v1/chat/completions");
  }
  const apiVersion = "2024-10-21";
  assertEquals(
    await getUrl({ apiVersion }),
    "deployments/gpt-5-mini/chat/completions?api-version=2024-10-21",
  );
  assertEquals(await getUrl({ apiVersion, api: "responses" }), "responses?api-version=2024-10-21");
  assertEquals(await getUrl({ apiVersion: "v1" }), "v1/chat/completions");
  assertEquals(
    await getUrl({ apiVersion: "preview", api: "responses" }),
    "v1/responses?api-version=preview",
  );
  assertEquals(
    await getUrl({ baseUrl: `${ROOT}/openai/deployments/mine`, apiVersion }),
    "deployments/mine/chat/completions?api-version=2024-10-21",
  );
});

Deno.test("createAzure(): accepts the target URI of the portal, with its API version", async () => {
  const send = async (path: string, options: AzureOptions = {}) =>
    (await sendToAzure(richRequest(MODEL), { baseUrl: ROOT + path, ...options })).url;
  const deployment = "/openai/deployments/mine/chat/completions?api-version=2024-10-21";
  assertEquals(await send(deployment), ROOT + deployment);
  assertEquals(
    await send(deployment, { apiVersion: "2025-01-01" }),
    `${ROOT}/openai/deployments/mine/chat/completions?api-version=2025-01-01`,
  );
  const responses = "/openai/responses?api-version=2025-04-01-preview";
  assertEquals(await send(responses, { api: "responses" }), ROOT + responses);
});

Deno.test("createAzure(): a target URI of the Responses API selects it for a deployment of any name", async () => {
  const send = async (path: string, options: AzureOptions = {}) => {
    const request = richRequest({ ...MODEL, modelId: "my-deployment" });
    return (await sendToAzure(request, { baseUrl: ROOT + path, ...options })).url;
  };
  for (const path of ["/openai/responses?api-version=2025-04-01-preview", "/openai/v1/responses"]) {
    assertEquals(await send(path), ROOT + path);
  }
  assertEquals(await send("/openai/v1/responses/"), `${ROOT}/openai/v1/responses`);
  assertEquals(
    await send("/openai/v1/responses", { api: "chat" }),
    `${ROOT}/openai/v1/chat/completions`,
  );
});

Deno.test("createAzure(): calls the API of the model's catalog entry where the URL and the API version have it", async () => {
  const getApi = async (modelId: string, options: AzureOptions = {}) => {
    const { url } = await sendToAzure(richRequest({ ...MODEL, modelId }), options);
    return /chat\/completions|responses/.exec(url)?.[0];
  };
  assertEquals(await getApi("gpt-5.4"), "responses");
  assertEquals(await getApi("gpt-5.4", { apiVersion: "2025-04-01-preview" }), "responses");
  assertEquals(await getApi("gpt-5.4", { apiVersion: "2024-10-21" }), "chat/completions");
  const baseUrl = `${ROOT}/openai/deployments/mine`;
  assertEquals(await getApi("gpt-5.4", { baseUrl }), "chat/completions");
  assertEquals(await getApi("gpt-5.4", { api: "chat" }), "chat/completions");
  assertEquals(await getApi("my-deployment"), "chat/completions");
  for (const name of ["prod-gpt-5.6-sol", "gpt-6-eu", "GPT6", "gpt-5-4-mini-2", "my-codex"]) {
    assertEquals(await getApi(name), "responses", name);
  }
  assertEquals(await getApi("prod-gpt-6", { apiVersion: "2024-10-21" }), "chat/completions");
  for (const name of ["gpt-35-turbo", "gpt-4o-prod", "prod-gpt-5", "gpt-5-2025-08-07-eu"]) {
    assertEquals(await getApi(name), "chat/completions", name);
  }
});

Deno.test("createAzure(): sends prompt_cache_key only to models of OpenAI, because others reject it", async () => {
  const hasKey = async (modelId: string) =>
    "prompt_cache_key" in
      (await sendToAzure(richRequest({ ...MODEL, modelId }), { api: "chat" })).body;
  for (const deployment of ["gpt-5-mini", "prod-gpt-4o", "o4-mini", "gpt-5.3-codex"]) {
    assertEquals(await hasKey(deployment), true, deployment);
  }
  for (const deployment of ["DeepSeek-V4-Pro", "Kimi-K2.5", "grok-4.6", "gpt-oss-120b", "mine"]) {
    assertEquals(await hasKey(deployment), false, deployment);
  }
});

Deno.test("createAzure(): requests a long cache retention from the models that support it", async () => {
  const send = async (modelId: string) => {
    const model = { ...MODEL, modelId };
    const request = richRequest(model, { options: { cache: "long" } });
    const { body, warnings } = await sendToAzure(request, { api: "responses" });
    return [body["prompt_cache_retention"], warnings.map(({ code }) => code)];
  };
  assertEquals(await send("gpt-5.4"), ["24h", []]);
  assertEquals(await send("gpt-5.6"), [undefined, ["cache_left_out"]]);
  assertEquals(await send("mine"), [undefined, ["unknown_model", "cache_left_out"]]);
});

Deno.test("createAzure(): omits prompt_cache_key for dated API versions", async () => {
  const request = richRequest(MODEL, { options: { sessionId: "session-1" } });
  assertFalse(
    "prompt_cache_key" in (await sendToAzure(request, { apiVersion: "2024-10-21" })).body,
  );
});

Deno.test("createAzure(): without a base URL, sends nothing and returns an error that names baseUrl", async () => {
  const fetch = replayFetch([]);
  const { error } = await readReply(createAzure({ fetch })(richRequest(MODEL)));
  assertEquals([error?.code, fetch.requests.length], ["bad_request", 0]);
  assertEquals(error?.message.includes("pass baseUrl to createAzure()"), true);
});

Deno.test("createAzure(): without a key, sends nothing and returns an error that names apiKey and getToken", async () => {
  const fetch = replayFetch([]);
  const request = richRequest(MODEL, { options: { apiKey: "" } });
  const { error } = await readReply(createAzure({ fetch, baseUrl: ROOT })(request));
  assertEquals(error?.code, "auth_error");
  assertEquals(error?.message.includes("pass apiKey or getToken"), true);
});
