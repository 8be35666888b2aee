import { assertEquals, assertFalse } from "@std/assert";
import { type AzureOptions, createAzure } from "../../adapters/azure/mod.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import type { StreamRequest } from "../../src/core/stream.ts";
import { richRequest } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

const ROOT = "https://my-resource.openai.azure.com";
const MODEL: ModelSpec = { provider: "azure", modelId: "gpt-5-mini", thinkingLevel: "low" };

function sendToAzure(request: StreamRequest, options: AzureOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createAzure({ fetch, baseUrl: ROOT, ...options }), request);
}

Deno.test("the rich conversation is the golden request to Azure's chat completions", async () => {
  const options = { maxTokens: 100, sessionId: "session-1" };
  const { url, headers, body, warnings } = await sendToAzure(richRequest(MODEL, { options }));
  assertEquals(url, `${ROOT}/openai/v1/chat/completions`);
  assertEquals([headers.get("api-key"), headers.get("authorization")], ["sk-test", null]);
  assertEquals(warnings, []);
  assertGolden(body, "azure/chat_request.json");
});

Deno.test("the rich conversation is the golden request to Azure's responses", async () => {
  const { url, body, warnings } = await sendToAzure(richRequest(MODEL), { api: "responses" });
  assertEquals(url, `${ROOT}/openai/v1/responses`);
  assertEquals(warnings, []);
  assertGolden(body, "azure/responses_request.json");
});

Deno.test("the address may be that of the resource, or go further", async () => {
  const urlOf = async (options: AzureOptions) =>
    (await sendToAzure(richRequest(MODEL), options)).url.replace(`${ROOT}/openai/`, "");
  for (const path of ["", "/", "/openai", "/openai/v1", "/openai/v1/"]) {
    assertEquals(await urlOf({ baseUrl: ROOT + path }), "v1/chat/completions");
  }
  const apiVersion = "2024-10-21";
  assertEquals(
    await urlOf({ apiVersion }),
    "deployments/gpt-5-mini/chat/completions?api-version=2024-10-21",
  );
  assertEquals(await urlOf({ apiVersion, api: "responses" }), "responses?api-version=2024-10-21");
  assertEquals(await urlOf({ apiVersion: "v1" }), "v1/chat/completions");
  assertEquals(
    await urlOf({ apiVersion: "preview", api: "responses" }),
    "v1/responses?api-version=preview",
  );
  assertEquals(
    await urlOf({ baseUrl: `${ROOT}/openai/deployments/mine`, apiVersion }),
    "deployments/mine/chat/completions?api-version=2024-10-21",
  );
});

Deno.test("dated versions are not sent what they do not know", async () => {
  const request = richRequest(MODEL, { options: { sessionId: "session-1" } });
  assertFalse(
    "prompt_cache_key" in (await sendToAzure(request, { apiVersion: "2024-10-21" })).body,
  );
});

Deno.test("without an address nothing is sent, and the error says what to do", async () => {
  const fetch = replayFetch([]);
  const { error } = await readReply(createAzure({ fetch })(richRequest(MODEL)));
  assertEquals([error?.code, fetch.requests.length], ["bad_request", 0]);
  assertEquals(error?.message.includes("give createAzure a baseUrl"), true);
});

Deno.test("without a key nothing is sent, and the error names both ways to have one", async () => {
  const fetch = replayFetch([]);
  const request = richRequest(MODEL, { options: { apiKey: "" } });
  const { error } = await readReply(createAzure({ fetch, baseUrl: ROOT })(request));
  assertEquals(error?.code, "auth_error");
  assertEquals(error?.message.includes("an apiKey or a getToken"), true);
});
