import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { modelSpec } from "../src/core/models/model.ts";
import { findRates } from "../src/core/models/usage.ts";
import type { StreamFn, StreamRequest } from "../src/core/streams/stream.ts";
import { readReply } from "../src/testing/read_reply.ts";
import { replayFetch } from "../src/testing/replay_fetch.ts";
import { scriptedStream } from "../src/testing/scripted_stream.ts";
import { catalog, findModel } from "./catalog/catalog.ts";
import { connect, providerNames } from "./connect.ts";
import { readEnvironmentVariable } from "./kit/options/environment.ts";

const ANTHROPIC_REPLY = [
  '{"type":"message_start","message":{"usage":{"input_tokens":1}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hi"}}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
  '{"type":"message_stop"}',
].map((data) => `data: ${data}\n\n`).join("");
const CHAT_REPLY = 'data: {"choices":[{"delta":{"content":"hello"}}]}\n\ndata: [DONE]\n\n';

function createRequest(provider: string, modelId = "some-model"): StreamRequest {
  return {
    model: { provider, modelId, thinkingLevel: "off" },
    context: {
      systemPrompt: "",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 }],
      tools: [],
    },
    options: {},
    signal: new AbortController().signal,
  };
}

/** Creates an environment that records the names of the variables read. */
function recordEnvironment(values: Record<string, string>) {
  const read: string[] = [];
  const env = (name: string) => {
    read.push(name);
    return values[name];
  };
  return { env, read };
}

Deno.test("connect(): sends each request to the provider of its model, with the key of that provider", async () => {
  const fetch = replayFetch([ANTHROPIC_REPLY, CHAT_REPLY, CHAT_REPLY]);
  const { env } = recordEnvironment({ ANTHROPIC_API_KEY: "a-key", GROQ_API_KEY: "g-key" });
  const streamFn = connect({ fetch, env });
  assertEquals((await readReply(streamFn(createRequest("anthropic")))).text, "hi");
  assertEquals((await readReply(streamFn(createRequest("groq")))).text, "hello");
  assertEquals((await readReply(streamFn(createRequest("lmstudio")))).text, "hello");
  const [anthropic, groq, lmStudio] = fetch.requests;
  assertEquals(anthropic?.url, "https://api.anthropic.com/v1/messages");
  assertEquals(anthropic?.headers.get("x-api-key"), "a-key");
  assertEquals(groq?.url, "https://api.groq.com/openai/v1/chat/completions");
  assertEquals(groq?.headers.get("authorization"), "Bearer g-key");
  assertEquals(lmStudio?.url, "http://localhost:1234/v1/chat/completions");
  assertEquals(lmStudio?.headers.get("authorization"), null);
});

Deno.test("connect(): reads environment variables when a provider is called", async () => {
  const { env, read } = recordEnvironment({ ANTHROPIC_API_KEY: "a-key" });
  const streamFn = connect({ fetch: replayFetch(ANTHROPIC_REPLY), env });
  assertEquals(read, []);
  const stream = streamFn(createRequest("anthropic"));
  assertEquals(read, []);
  await readReply(stream);
  assertEquals(read, ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]);
});

Deno.test("connect(): prefers the key of the request, then of the options, then of the environment", async () => {
  const fetch = replayFetch(ANTHROPIC_REPLY);
  const { env } = recordEnvironment({ ANTHROPIC_API_KEY: "environment-key" });
  const streamFn = connect({
    fetch,
    env,
    providers: { anthropic: { apiKey: () => "options-key" } },
  });
  await readReply(streamFn(createRequest("anthropic")));
  await readReply(streamFn({ ...createRequest("anthropic"), options: { apiKey: "request-key" } }));
  assertEquals(fetch.requests.map(({ headers }) => headers.get("x-api-key")), [
    "options-key",
    "request-key",
  ]);
});

Deno.test("connect(): an empty key of the options or of a variable is none", async () => {
  const findKey = async (apiKey: string | (() => string), variables: Record<string, string>) => {
    const fetch = replayFetch(ANTHROPIC_REPLY);
    const { env } = recordEnvironment(variables);
    const providers = { google: { apiKey } };
    await readReply(connect({ fetch, env, providers })(createRequest("google")));
    return fetch.requests[0]?.headers.get("x-goog-api-key");
  };
  const variables = { GEMINI_API_KEY: "", GOOGLE_API_KEY: "environment-key" };
  assertEquals(await findKey("", variables), "environment-key");
  assertEquals(await findKey(() => "", variables), "environment-key");
  assertEquals(await findKey("options-key", variables), "options-key");
});

Deno.test("connect(): without a key, sends nothing and returns an error that lists the ways to supply one", async () => {
  const fetch = replayFetch(ANTHROPIC_REPLY);
  const { env } = recordEnvironment({});
  const { error } = await readReply(connect({ fetch, env })(createRequest("anthropic")));
  assertEquals(error?.code, "auth_error");
  assertStringIncludes(error?.message ?? "", "set ANTHROPIC_API_KEY in the environment");
  assertStringIncludes(error?.message ?? "", "providers: { anthropic: { apiKey } }");
  assertStringIncludes(error?.message ?? "", "getApiKey");
  assertEquals(fetch.requests.length, 0);
});

Deno.test({
  name: "connect(): without the permission to read the variable of a key, names that permission",
  permissions: { env: false, net: false, read: "inherit" },
  async fn() {
    const { error } = await readReply(connect()(createRequest("anthropic")));
    assertStringIncludes(
      error?.message ?? "",
      "set ANTHROPIC_API_KEY in the environment (which Deno reads only with --allow-env), pass",
    );
  },
});

Deno.test("connect(): requires no key when a header of the caller carries one", async () => {
  const fetch = replayFetch(ANTHROPIC_REPLY);
  const providers = { anthropic: { headers: { Authorization: "Bearer t" } } };
  const reply = await readReply(
    connect({ fetch, env: () => undefined, providers })(createRequest("anthropic")),
  );
  assertEquals(reply.text, "hi");
});

Deno.test("connect(): the error for an unknown provider lists the known providers", async () => {
  const { error } = await readReply(connect({ env: () => undefined })(createRequest("acme")));
  assertEquals(error?.code, "bad_request");
  for (const name of providerNames()) assertStringIncludes(error?.message ?? "", name);
  const inherited = await readReply(connect()(createRequest("constructor")));
  assertStringIncludes(inherited.error?.message ?? "", 'Unknown provider "constructor"');
});

Deno.test("connect(): adds a stream function or a server under a new name", async () => {
  const acmeStreamFn: StreamFn = connect({
    fetch: replayFetch(CHAT_REPLY),
    providers: { acme: { baseUrl: "http://acme/v1", apiKey: "k" } },
  });
  const fetch = replayFetch(CHAT_REPLY);
  const streamFn = connect({
    fetch,
    providers: {
      mine: (request) =>
        acmeStreamFn({ ...request, model: { ...request.model, provider: "acme" } }),
      gateway: { baseUrl: "http://gateway/v1", apiKey: "k" },
    },
  });
  assertEquals((await readReply(streamFn(createRequest("mine")))).text, "hello");
  assertEquals((await readReply(streamFn(createRequest("gateway")))).text, "hello");
  assertEquals(fetch.requests[0]?.url, "http://gateway/v1/chat/completions");
});

Deno.test("readEnvironmentVariable(): returns undefined for an unset variable", () => {
  assertEquals(readEnvironmentVariable("SWINK_NO_SUCH_VARIABLE"), undefined);
});

Deno.test("connect(): hasStrictSchema() depends on the catalog and the schema", async () => {
  const entry = {
    contextWindow: 1,
    maxOutput: 1,
    thinking: { type: "none" },
    images: true,
  } as const;
  const { hasStrictSchema } = connect({
    catalog: {
      "openai/strict": { ...entry, strictSchema: true },
      "openai/loose": { ...entry, strictSchema: false },
    },
  });
  const model = (modelId: string) =>
    ({ provider: "openai", modelId, thinkingLevel: "off" }) as const;
  const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
  const answers = await Promise.all([
    hasStrictSchema?.(model("strict"), closed),
    hasStrictSchema?.(model("strict"), { type: "object" }),
    hasStrictSchema?.(model("loose"), closed),
    hasStrictSchema?.(model("unknown"), closed),
  ]);
  assertEquals(answers, [true, false, false, false]);
});

Deno.test("connect(): prices and context windows are known from the first request on", async () => {
  const streamFn = connect({ fetch: () => Promise.reject(new Error("offline")) });
  const { contextWindow, prices } = streamFn;
  const model = modelSpec("anthropic/claude-sonnet-4-6");
  assertEquals([contextWindow?.(model), prices && findRates(prices, model)], [
    undefined,
    undefined,
  ]);
  await streamFn.hasStrictSchema?.(model, {});
  assertEquals([contextWindow?.(model), prices && findRates(prices, model)], [
    findModel(catalog, model)?.contextWindow,
    findModel(catalog, model)?.rates,
  ]);
  assert(contextWindow?.(model));
});

Deno.test("connect(): the catalog of a provider's options, and a stream function's own facts, apply to its models", async () => {
  const rates = { input: 7, output: 8, cacheRead: 0, cacheWrite: 0 };
  const entry = {
    contextWindow: 4711,
    maxOutput: 1,
    thinking: { type: "none" },
    images: true,
    strictSchema: true,
    rates,
  } as const;
  const own: StreamFn = Object.assign(scriptedStream([]), {
    prices: () => rates,
    contextWindow: () => 42,
    hasStrictSchema: () => true,
  });
  const streamFn = connect({
    providers: {
      mine: { baseUrl: "https://mine.example/v1", catalog: { "mine/model": entry } },
      gemini: { catalog: { "google/model": entry } },
      own,
    },
  });
  const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
  const known = async (name: string) => {
    const model = modelSpec(name);
    const isStrict = await streamFn.hasStrictSchema?.(model, closed);
    const { contextWindow, prices = {} } = streamFn;
    return [isStrict, contextWindow?.(model), findRates(prices, model)?.input];
  };
  assertEquals(await known("mine/model"), [true, 4711, 7]);
  assertEquals(await known("google/model"), [true, 4711, 7]);
  assertEquals(await known("own/model"), [true, 42, 7]);
  assertEquals(await known("openai/model"), [false, undefined, undefined]);
  assertEquals((await known("anthropic/claude-sonnet-4-6"))[0], true);
});

/** Returns the URL of a request, or the message of the error without one. */
async function findUrl(
  model: readonly [string, string],
  options: Parameters<typeof connect>[0],
): Promise<string | undefined> {
  const fetch = replayFetch({ status: 500, body: "" });
  const { error } = await readReply(connect({ fetch, ...options })(createRequest(...model)));
  return fetch.requests[0]?.url ?? error?.message;
}

Deno.test("connect(): an option that is undefined does not replace the environment", async () => {
  const { env } = recordEnvironment({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://gw.example" });
  const providers = { openai: { baseUrl: undefined } };
  assertEquals(
    await findUrl(["openai", "m"], { env, providers }),
    "https://gw.example/chat/completions",
  );
});

Deno.test("connect(): a provider that is undefined has the options of the environment", async () => {
  const { env } = recordEnvironment({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://gw.example" });
  const ownKey = env("LAB_KEY");
  const providers = {
    openai: undefined,
    lab: ownKey ? { baseUrl: "https://lab.example", apiKey: ownKey } : undefined,
  };
  assertEquals(
    await findUrl(["openai", "m"], { env, providers }),
    "https://gw.example/chat/completions",
  );
  assertStringIncludes(
    await findUrl(["lab", "m"], { env, providers }) ?? "",
    'Unknown provider "lab"',
  );
});

Deno.test("connect(): the error for an unknown provider names those of the program", async () => {
  const { env } = recordEnvironment({});
  const providers = { lab: { baseUrl: "https://lab.example" } };
  assertStringIncludes(
    await findUrl(["lap", "m"], { env, providers }) ?? "",
    "Known providers: lab, anthropic, ",
  );
});

Deno.test("connect(): a base URL may have blanks around it and a query", async () => {
  const { env } = recordEnvironment({ OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" });
  const providers = {
    openai: { baseUrl: " https://gw.example/v1/?team=x#top " },
    google: { baseUrl: "https://gw.example/v1beta?team=x" },
  };
  assertEquals(
    await findUrl(["openai", "m"], { env, providers }),
    "https://gw.example/v1/chat/completions?team=x",
  );
  assertEquals(
    await findUrl(["google", "m"], { env, providers }),
    "https://gw.example/v1beta/models/m:streamGenerateContent?alt=sse&team=x",
  );
});

Deno.test("connect(): a region that is no name is an error, and cannot lead to another host", async () => {
  const { env } = recordEnvironment({
    AWS_BEARER_TOKEN_BEDROCK: "k",
    AWS_REGION: "evil.example/#",
  });
  const expected = 'Invalid region "evil.example/#" for bedrock: pass one such as "us-east-1"';
  assertEquals(await findUrl(["bedrock", "m"], { env }), expected);
  const arn = "arn:aws:bedrock:evil.example/#:1:inference-profile/m";
  const providers = { bedrock: { bearerToken: "k", region: "" } };
  const noRegion = () => undefined;
  assertEquals(await findUrl(["bedrock", arn], { env: noRegion, providers }), expected);
  const options = { bearerToken: "k", region: 5 as never };
  assertEquals(
    await findUrl(["bedrock", "m"], { env, providers: { bedrock: options } }),
    'Invalid region "5" for bedrock: pass one such as "us-east-1"',
  );
});

Deno.test("connect(): a model id of dots cannot lead to another resource", async () => {
  const { env } = recordEnvironment({
    AZURE_OPENAI_API_KEY: "k",
    AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.com",
    OPENAI_API_VERSION: "2024-10-21",
    AWS_BEARER_TOKEN_BEDROCK: "k",
    AWS_REGION: "us-east-1",
  });
  for (const provider of ["azure", "bedrock"]) {
    assertEquals(
      await findUrl([provider, ".."], { env }),
      'Invalid model id "..": use one that the provider lists',
    );
  }
});

Deno.test("connect(): OLLAMA_HOST may lack the host, or be an IPv6 address", async () => {
  for (const [host, url] of [[":11435", "localhost:11435"], ["::1", "[::1]:11434"]] as const) {
    const { env } = recordEnvironment({ OLLAMA_HOST: host });
    assertEquals(await findUrl(["ollama", "m"], { env }), `http://${url}/api/chat`);
  }
});

Deno.test("connect(): names invalid options of a provider, and how to use a server without keys", async () => {
  const env = () => undefined;
  const find = (provider: string, options: unknown) =>
    findUrl([provider, "m"], { env, providers: { [provider]: options as { baseUrl: string } } });
  assertEquals(
    await find("openai", "sk-1"),
    "providers.openai must be an object of options or a stream function, not a string",
  );
  assertEquals(
    await find("openai", { apiKey: 5 }),
    "apiKey must be a string or a function, not 5",
  );
  assertStringIncludes(
    await find("mine", { baseUrl: "http://localhost/v1" }) ?? "",
    "for a server without keys, add keyless: true to its options",
  );
});
