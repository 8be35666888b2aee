import { assertEquals, assertStringIncludes } from "@std/assert";
import { connect } from "../../adapters/connect.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** Asks a provider within an environment, and gives the address, the key and the error. */
async function sendRequest(
  model: { readonly provider: string; readonly modelId: string },
  variables: Readonly<Record<string, string>>,
): Promise<{ url?: string | undefined; key?: string | undefined; message?: string | undefined }> {
  const fetch = replayFetch({ status: 500 });
  const streamFn = connect({ fetch, env: (name) => variables[name] });
  const request = createMinimalRequest(model.provider, model.modelId);
  const { error } = await readReply(streamFn({ ...request, options: {} }));
  const [asked] = fetch.requests;
  const keys = ["authorization", "api-key", "x-goog-api-key"];
  const key = keys.map((name) => asked?.headers.get(name)).find((value) => value);
  return { url: asked?.url, key: key ?? undefined, message: error?.message };
}

Deno.test("Google's models go by two names, and its key by two", async () => {
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

Deno.test("Azure's address, key and version come from the environment", async () => {
  const model = { provider: "azure", modelId: "mine" };
  const variables = {
    AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.com/",
    AZURE_OPENAI_API_KEY: "a-key",
  };
  const { url, key } = await sendRequest(model, variables);
  assertEquals([url, key], ["https://r.openai.azure.com/openai/v1/chat/completions", "a-key"]);
  const dated = await sendRequest(model, { ...variables, OPENAI_API_VERSION: "2024-10-21" });
  assertEquals(
    dated.url,
    "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
  );
  const nowhere = await sendRequest(model, { AZURE_OPENAI_API_KEY: "a-key" });
  assertStringIncludes(nowhere.message ?? "", "give createAzure a baseUrl");
});

Deno.test("Mistral and xAI are asked with their keys", async () => {
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

Deno.test("Ollama is asked without a key, where OLLAMA_HOST says", async () => {
  const model = { provider: "ollama", modelId: "qwen3:8b" };
  const local = await sendRequest(model, {});
  assertEquals([local.url, local.key], ["http://localhost:11434/api/chat", undefined]);
  const elsewhere = await sendRequest(model, {
    OLLAMA_HOST: "0.0.0.0:8080",
    OLLAMA_API_KEY: "o-key",
  });
  assertEquals([elsewhere.url, elsewhere.key], ["http://127.0.0.1:8080/api/chat", "Bearer o-key"]);
});

Deno.test("a key that is missing is told with the names of its variables", async () => {
  const { message } = await sendRequest({ provider: "google", modelId: "gemini-3.8-flash" }, {});
  assertStringIncludes(message ?? "", "GEMINI_API_KEY or GOOGLE_API_KEY");
});
