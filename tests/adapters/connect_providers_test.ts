import { assertEquals, assertStringIncludes } from "@std/assert";
import { connect } from "../../adapters/connect.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { failedStream } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** Sends a request with an environment and returns its URL, its key and the error. */
async function sendRequest(
  model: { readonly provider: string; readonly modelId: string },
  variables: Readonly<Record<string, string>>,
): Promise<{ url?: string | undefined; key?: string | undefined; message?: string | undefined }> {
  const fetch = replayFetch({ status: 500 });
  const streamFn = connect({ fetch, env: (name) => variables[name] });
  const request = createMinimalRequest(model.provider, model.modelId);
  const { error } = await readReply(streamFn({ ...request, options: {} }));
  const [sent] = fetch.requests;
  const keys = ["authorization", "api-key", "x-goog-api-key"];
  const key = keys.map((name) => sent?.headers.get(name)).find((value) => value);
  return { url: sent?.url, key: key ?? undefined, message: error?.message };
}

Deno.test("connect(): google and gemini are the same provider, with two environment variables for the key", async () => {
  for (const provider of ["google", "gemini"]) {
    for (const variable of ["GEMINI_API_KEY", "GOOGLE_API_KEY"]) {
      const { url, key } = await sendRequest({ provider, modelId: "gemini-3.8-flash" }, {
        [variable]: "g-key",
      });
      assertEquals(
        url,
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
      );
      assertEquals(key, "g-key");
    }
  }
});

const GEMINI_REPLY =
  'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\n\n';

Deno.test("connect(): options of google apply to gemini models, and vice versa", async () => {
  for (const [provider, configured] of [["gemini", "google"], ["google", "gemini"]] as const) {
    const fetch = replayFetch(GEMINI_REPLY);
    const streamFn = connect({
      fetch,
      env: () => undefined,
      providers: {
        [provider]: undefined as never, // as an untyped caller may pass it
        [configured]: { apiKey: "g-key", baseUrl: "https://own.example/v1" },
      },
    });
    const request = createMinimalRequest(provider, "gemini-3.8-flash");
    assertEquals((await readReply(streamFn({ ...request, options: {} }))).text, "hi");
    const [sent] = fetch.requests;
    assertEquals(
      sent?.url,
      "https://own.example/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    );
    assertEquals(sent?.headers.get("x-goog-api-key"), "g-key");
  }
});

Deno.test("connect(): a stream function for google receives gemini requests, unless gemini has its own", async () => {
  const providers: string[] = [];
  const createRecorder = (name: string): StreamFn => (request) => {
    providers.push(`${name}: ${request.model.provider}`);
    return failedStream(new BadRequestError("recorded"));
  };
  const google = createRecorder("google");
  const gemini = createRecorder("gemini");
  const request = createMinimalRequest("gemini", "gemini-3.8-flash");
  await readReply(connect({ providers: { google } })(request));
  await readReply(connect({ providers: { google, gemini } })(request));
  assertEquals(providers, ["google: gemini", "gemini: gemini"]);
});

Deno.test("connect(): errors use the name of the provider in the model", async () => {
  for (const provider of ["google", "gemini"]) {
    const { message } = await sendRequest({ provider, modelId: "gemini-3.8-flash" }, {});
    assertStringIncludes(message ?? "", `No API key for ${provider}: `);
    assertStringIncludes(message ?? "", `providers: { ${provider}: { apiKey } }`);
  }
});

Deno.test("connect(): a gemini model has the catalog entry of the google model", async () => {
  const { hasStrictSchema } = connect();
  const model = { modelId: "gemini-3.8-flash", thinkingLevel: "off" } as const;
  const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
  assertEquals(await hasStrictSchema?.({ ...model, provider: "google" }, schema), true);
  assertEquals(await hasStrictSchema?.({ ...model, provider: "gemini" }, schema), true);
});

Deno.test("connect(): reads URL, key and API version of Azure from the environment", async () => {
  const model = { provider: "azure", modelId: "mine" };
  const variables = {
    AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.com/",
    AZURE_OPENAI_API_KEY: "a-key",
  };
  const { url, key } = await sendRequest(model, variables);
  assertEquals([url, key], ["https://r.openai.azure.com/openai/v1/chat/completions", "a-key"]);
  const withVersion = await sendRequest(model, { ...variables, OPENAI_API_VERSION: "2024-10-21" });
  assertEquals(
    withVersion.url,
    "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
  );
  const withoutUrl = await sendRequest(model, { AZURE_OPENAI_API_KEY: "a-key" });
  assertStringIncludes(withoutUrl.message ?? "", "pass baseUrl to createAzure");
});

Deno.test("connect(): reads the keys of Mistral and xAI from the environment", async () => {
  const mistral = await sendRequest({ provider: "mistral", modelId: "mistral-small-latest" }, {
    MISTRAL_API_KEY: "m-key",
  });
  assertEquals(mistral, {
    ...mistral,
    url: "https://api.mistral.ai/v1/chat/completions",
    key: "Bearer m-key",
  });
  const xai = await sendRequest({ provider: "xai", modelId: "grok-4.7" }, { XAI_API_KEY: "x-key" });
  assertEquals([xai.url, xai.key], ["https://api.x.ai/v1/responses", "Bearer x-key"]);
});

Deno.test("connect(): calls Ollama at OLLAMA_HOST, without a key unless OLLAMA_API_KEY is set", async () => {
  const model = { provider: "ollama", modelId: "qwen3:8b" };
  const local = await sendRequest(model, {});
  assertEquals([local.url, local.key], ["http://localhost:11434/api/chat", undefined]);
  const remote = await sendRequest(model, {
    OLLAMA_HOST: "0.0.0.0:8080",
    OLLAMA_API_KEY: "o-key",
  });
  assertEquals([remote.url, remote.key], ["http://127.0.0.1:8080/api/chat", "Bearer o-key"]);
});

Deno.test("connect(): the error for a missing key names the environment variables", async () => {
  const { message } = await sendRequest({ provider: "google", modelId: "gemini-3.8-flash" }, {});
  assertStringIncludes(message ?? "", "GEMINI_API_KEY or GOOGLE_API_KEY");
});

Deno.test("connect(): headers of a provider are added to those for all providers, and replace equal ones", async () => {
  const fetch = replayFetch([{ status: 500 }, { status: 500 }]);
  const streamFn = connect({
    fetch,
    env: () => "some-key",
    headers: { "x-team": "core", "x-trace": "1" },
    providers: { groq: { headers: { "X-Trace": "2", "x-own": "3" } } },
  });
  for (const provider of ["groq", "cerebras"]) {
    await readReply(streamFn({ ...createMinimalRequest(provider, "m"), options: {} }));
  }
  const sent = fetch.requests.map(({ headers }) =>
    ["x-team", "x-trace", "x-own"].map((name) => headers.get(name))
  );
  assertEquals(sent, [["core", "2", "3"], ["core", "1", null]]);
});

Deno.test("connect(): a blank key is none, so that the environment has the key", async () => {
  for (const apiKey of ["", " \n", () => " ", () => undefined]) {
    const fetch = replayFetch({ status: 500 });
    const streamFn = connect({ fetch, env: () => "env-key", providers: { groq: { apiKey } } });
    await readReply(streamFn({ ...createMinimalRequest("groq", "m"), options: {} }));
    assertEquals(fetch.requests[0]?.headers.get("authorization"), "Bearer env-key");
  }
});

Deno.test("connect(): an apiKey function that returns no string ends the reply with an error that says so", async () => {
  const apiKey = (() => 4711) as unknown as () => string;
  const streamFn = connect({ env: () => undefined, providers: { groq: { apiKey } } });
  const { error } = await readReply(
    streamFn({ ...createMinimalRequest("groq", "m"), options: {} }),
  );
  assertEquals([error?.code, error?.message], [
    "auth_error",
    "groq: apiKey must return a string",
  ]);
});
