import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { StreamOptions } from "../../src/core/streams/stream.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch, type ReplayFixture } from "../../src/testing/replay_fetch.ts";
import { createReply, createToolResult, PIXEL, prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const TOOLS = ["look", "list"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object" },
}));

async function call(baseUrl: string, fixture: ReplayFixture, options: StreamOptions = {}) {
  const fetch = replayFetch(fixture);
  const request = createMinimalRequest("acme", "m");
  const reply = await readReply(
    createOpenAI({ baseUrl, fetch })({
      ...request,
      context: { ...request.context, tools: TOOLS },
      options: { apiKey: "sk-test", ...options },
    }),
  );
  return { reply, body: JSON.parse(fetch.requests[0]?.body ?? "{}") };
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const calls = (...tool_calls: object[]) => chunk({ tool_calls });
const look = (args: unknown) => ({ name: "look", arguments: args });
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

interface Server {
  readonly baseUrl: string;
  /** Events of a reply that thinks "Hm.", calls `look` and uses 3 and 2 tokens, as the server sends them. */
  readonly events: readonly unknown[];
  /** Text before and after the events. */
  readonly comment?: string;
  readonly end?: string;
}

/** The form of a reply at each server: reasoning, calls, usage and end differ. */
const SERVERS: Readonly<Record<string, Server>> = {
  OpenRouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    comment: ": OPENROUTER PROCESSING\n\n",
    events: [
      chunk({ role: "assistant", content: "", reasoning: "Hm.", reasoning_details: [] }),
      calls({ index: 0, id: "1", type: "function", function: look('{"a":1}') }),
      { ...chunk({ content: "" }, "tool_calls"), native_finish_reason: "TOOL" },
      { choices: [], usage: { ...USAGE, cost: 0.1 } },
    ],
  },
  Groq: {
    baseUrl: "https://api.groq.com/openai/v1",
    events: [
      { ...chunk({ role: "assistant", content: null }), x_groq: { id: "req_1" } },
      chunk({ reasoning: "Hm." }),
      calls({ index: 0, id: "1", function: look('{"a":1}') }),
      { ...chunk({}, "tool_calls"), x_groq: { id: "req_1", usage: USAGE } },
    ],
  },
  DeepSeek: {
    baseUrl: "https://api.deepseek.com/v1",
    events: [
      chunk({ role: "assistant", content: null, reasoning_content: "Hm." }),
      calls({ index: 0, id: "1", type: "function", function: look("") }),
      calls({ index: 0, function: { arguments: '{"a":' } }),
      calls({ index: 0, function: { arguments: "1}" } }),
      { ...chunk({ content: "", reasoning_content: null }, "tool_calls"), usage: USAGE },
    ],
  },
  Together: {
    baseUrl: "https://api.together.xyz/v1",
    events: [
      { ...chunk({ content: "", reasoning: "Hm.", token_id: 1 }), usage: null },
      calls({ index: 0, id: "1", type: "function", function: look('{"a":1}') }),
      { ...chunk({ content: "" }, "tool_calls"), usage: USAGE },
    ],
  },
  Fireworks: {
    baseUrl: "https://api.fireworks.ai/inference/v1",
    events: [
      chunk({ role: "assistant", reasoning_content: "Hm." }),
      calls({ index: 0, id: "1", function: { name: "look" } }),
      calls({ index: 0, function: { arguments: '{"a":1}', name: null }, id: null }),
      { ...chunk({}, "tool_calls"), usage: USAGE },
    ],
  },
  vLLM: {
    baseUrl: "http://localhost:8000/v1",
    events: [
      { ...chunk({ role: "assistant", content: "" }), usage: null },
      chunk({ reasoning_content: "Hm." }),
      calls({ index: 0, id: "1", type: "function", function: { name: "look" } }),
      calls({ index: 0, function: { arguments: '{"a":1}' } }),
      {
        choices: [{
          index: 0,
          delta: { content: "" },
          finish_reason: "tool_calls",
          stop_reason: null,
        }],
      },
      { choices: [], usage: USAGE },
    ],
  },
  "llama.cpp": {
    baseUrl: "http://localhost:8080/v1",
    events: [
      chunk({ role: "assistant", content: null }),
      chunk({ reasoning_content: "Hm." }),
      calls({ index: 0, id: "1", type: "function", function: look("{") }),
      calls({ index: 0, function: { arguments: '"a":1}' } }),
      chunk({}, "tool_calls"),
      { choices: [], usage: USAGE, timings: { prompt_n: 3 } },
    ],
  },
  "LM Studio": {
    baseUrl: "http://localhost:1234/v1",
    events: [
      chunk({ role: "assistant", reasoning: "Hm." }),
      calls({ index: 0, id: "1", type: "function", function: look("") }),
      calls({ index: 0, type: "function", function: { arguments: '{"a":1}' } }),
      chunk({}, "tool_calls"),
      { choices: [], usage: USAGE },
    ],
  },
  "TGI before lists of calls": {
    baseUrl: "http://localhost:3000/v1",
    events: [
      chunk({ role: "assistant", reasoning_content: "Hm." }),
      chunk({ tool_calls: { index: 0, id: "", type: "function", function: look('{"a"') } }),
      chunk({ tool_calls: { index: 0, id: "", type: "function", function: { arguments: ":1}" } } }),
      { ...chunk({}, "eos_token"), usage: USAGE },
    ],
    end: "",
  },
  TGI: {
    baseUrl: "http://localhost:3000/v1",
    events: [
      chunk({ role: "assistant", reasoning_content: "Hm." }),
      calls({ index: 0, id: "", type: "function", function: look('{"a":1}') }),
      { ...chunk({ role: "assistant", content: "" }, "eos_token"), usage: USAGE },
    ],
    end: "",
  },
  Mistral: {
    baseUrl: "https://api.mistral.ai/v1",
    events: [
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] }),
      {
        ...chunk(
          { content: "", tool_calls: [{ id: "1", function: look('{"a":1}'), index: 0 }] },
          "tool_calls",
        ),
        usage: USAGE,
      },
    ],
  },
  xAI: {
    baseUrl: "https://api.x.ai/v1",
    events: [
      chunk({ role: "assistant", content: "", reasoning_content: "Hm." }),
      calls({ index: 0, id: "1", type: "function", function: look('{"a":1}') }),
      chunk({}, "tool_calls"),
      { choices: [], usage: USAGE },
    ],
  },
};

function summarize({ thinking, text, calls, stopReason, usage }: CollectedReply): unknown {
  const called = calls.map(({ name, arguments: args }) => ({ name, args }));
  return { thinking, text, called, stopReason, total: usage?.total };
}

for (
  const [name, { baseUrl, events, comment = "", end = "data: [DONE]\n\n" }] of Object.entries(
    SERVERS,
  )
) {
  Deno.test(`${name}: the form of its replies is read`, async () => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(comment);
    const { reply } = await call(baseUrl, comment + body + end);
    assertEquals(summarize(reply), {
      thinking: "Hm.",
      text: "",
      called: [{ name: "look", args: { a: 1 } }],
      stopReason: "tool_use",
      total: 5,
    });
  });
}

Deno.test("compatible servers: pieces of calls with an id and without an index belong to the call with the id", async () => {
  const events = [
    calls({ id: "1", type: "function", function: look('{"a":') }),
    calls({ id: "2", type: "function", function: { name: "list", arguments: '{"b":' } }),
    calls({ id: "1", function: { arguments: "1}" } }),
    calls({ id: "2", function: { arguments: "2}" } }),
    chunk({}, "tool_calls"),
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const { reply } = await call("http://localhost:8000/v1", `${body}data: [DONE]\n\n`);
  assertEquals(reply.calls.map(({ name, arguments: args }) => ({ name, args })), [
    { name: "look", args: { a: 1 } },
    { name: "list", args: { b: 2 } },
  ]);
});

const DONE =
  'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

Deno.test("compatible servers: fields that a server rejects are left out, those of the caller with a warning", async () => {
  const extra = { logprobs: true, user: "me" };
  const { body, reply } = await call("https://api.groq.com/openai/v1", DONE, { extra });
  assertEquals([body.logprobs, body.user], [undefined, "me"]);
  const warnings = reply.warnings.filter(({ code }) => code === "field_left_out");
  assertEquals(warnings.map(({ message }) => message), ["Groq does not support logprobs"]);
  const mistral = await call("https://api.mistral.ai/v1", DONE);
  assertEquals("stream_options" in mistral.body, false);
  assertEquals(mistral.reply.warnings.filter(({ code }) => code === "field_left_out"), []);
});

Deno.test("Fireworks, Together, Moonshot: replies may be longer than the defaults of 1,024 to 2,048 tokens", async () => {
  const cases: readonly (readonly [url: string, model: string, maxTokens: number | undefined])[] = [
    ["https://api.fireworks.ai/inference/v1", "accounts/fireworks/models/glm-5", 32_000],
    ["https://api.together.xyz/v1", "Qwen/Qwen3.5-397B-A17B", 32_000],
    ["https://api.together.ai/v1", "Qwen/Qwen3.5-397B-A17B", 32_000],
    ["https://api.moonshot.ai/v1", "kimi-k2.5", 32_000],
    ["https://api.moonshot.ai/v1", "kimi-k3", undefined],
    ["https://api.moonshot.ai/v1", "moonshot-v1-8k", undefined],
    ["https://api.groq.com/openai/v1", "openai/gpt-oss-120b", undefined],
  ];
  for (const [baseUrl, model, expected] of cases) {
    const send = async (options: StreamOptions) => {
      const request = createMinimalRequest("acme", model);
      const { body } = await captureRequest(
        (fetch) => createOpenAI({ baseUrl, fetch }),
        { ...request, options: { apiKey: "sk-test", ...options } },
      );
      return [body["max_tokens"], body["max_completion_tokens"]];
    };
    assertEquals(await send({}), [expected, undefined], model);
    assertEquals(await send({ maxTokens: 500 }), [500, undefined], model);
    assertEquals(await send({ extra: { max_tokens: 600 } }), [600, undefined], model);
    const extra = { max_completion_tokens: 700 };
    assertEquals(await send({ extra }), [undefined, 700], model);
  }
});

Deno.test("Together: a limit that does not fit into the context of the model is lowered", async () => {
  const { body } = await call("https://api.together.xyz/v1", DONE);
  assertEquals(body["context_length_exceeded_behavior"], "truncate");
});

Deno.test("LM Studio, llama.cpp: a required tool is sent alone, because tool_choice must be a text", async () => {
  const toolChoice = { name: "look" };
  for (const port of [1234, 8080]) {
    const { body } = await call(`http://localhost:${port}/v1`, DONE, { toolChoice });
    assertEquals(body.tool_choice, "required");
    assertEquals(body.tools.map((tool: { function: { name: string } }) => tool.function.name), [
      "look",
    ]);
  }
  const other = await call("http://localhost:8000/v1", DONE, { toolChoice });
  assertEquals(other.body.tool_choice.function.name, "look");
});

Deno.test("LM Studio, llama.cpp: bounds and patterns of tools, which their grammars may not support, are in descriptions", async () => {
  const parameters = { type: "object", properties: { note: { type: "string", maxLength: 2000 } } };
  const send = async (provider: string, baseUrl: string) => {
    const request = createMinimalRequest(provider, "m");
    const tools = [{ name: "look", description: "", parameters }];
    const { body } = await captureRequest((fetch) => createOpenAI({ baseUrl, fetch }), {
      ...request,
      context: { ...request.context, tools },
      options: { apiKey: "sk-test" },
    });
    const [tool] = body["tools"] as { function: { parameters: JsonObject } }[];
    return Object(tool?.function.parameters["properties"])["note"];
  };
  const described = { type: "string", description: "{maxLength: 2000}" };
  assertEquals(await send("acme", "http://localhost:8080/v1"), described);
  assertEquals(await send("acme", "http://127.0.0.1:1234/v1"), described);
  assertEquals(await send("llamacpp", "http://gpu.lab.example:9000/v1"), described);
  assertEquals(await send("lmstudio", "http://gpu.lab.example/v1"), described);
  assertEquals(await send("acme", "http://localhost:8000/v1"), parameters.properties.note);
});

Deno.test("compatible servers: the error of a refused connection states how to start a local server", async () => {
  const refused = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
  const hints = {
    1234: "`lms server start`",
    8000: "`vllm serve <model>`",
    8080: "`llama-server",
    11434: "`ollama serve`",
  };
  for (const [port, hint] of Object.entries(hints)) {
    const { reply } = await call(`http://localhost:${port}/v1`, refused);
    assertStringIncludes(reply.error?.message ?? "", hint);
  }
});

Deno.test("compatible servers: a reply at the end stays the last message when the server continues it", async () => {
  const reply: LlmMessage = createReply(modelSpec("acme/m"), [{ type: "text", text: "Once" }]);
  const send = async (extra: JsonObject) => {
    const request = createMinimalRequest("acme", "m");
    const { body } = await captureRequest(
      (fetch) => createOpenAI({ baseUrl: "http://127.0.0.1:8000/v1", fetch }),
      {
        ...request,
        context: { ...request.context, messages: [prompt("Tell a story."), reply] },
        options: { apiKey: "sk-test", extra },
      },
    );
    return (body["messages"] as { role: string }[]).map(({ role }) => role);
  };
  const continued = { continue_final_message: true, add_generation_prompt: false };
  assertEquals(await send(continued), ["user", "assistant"]);
  assertEquals(await send({}), ["user", "assistant", "user"]);
});

Deno.test("DeepSeek: a model that is not in the catalog gets neither images nor a response schema, with warnings", async () => {
  const model = modelSpec("deepseek/deepseek-chat");
  const { body, warnings } = await captureRequest(
    (fetch) => createOpenAI({ baseUrl: "https://api.deepseek.com", fetch }),
    {
      ...createMinimalRequest(model.provider, model.modelId),
      context: { systemPrompt: "", messages: [prompt("Look.", PIXEL)], tools: [] },
      options: { apiKey: "sk-test", responseSchema: { type: "object", properties: {} } },
    },
  );
  assertEquals(body["response_format"], undefined);
  assertEquals(JSON.stringify(body).includes("image_url"), false);
  assertEquals(warnings.map(({ code }) => code).filter((code) => /left_out$/.test(code)), [
    "images_left_out",
    "response_schema_left_out",
  ]);
});

Deno.test("compatible servers: a name that is repeated before the arguments is not a part of the name", async () => {
  const events = [
    calls({ index: 0, id: "1", type: "function", function: look("") }),
    calls({ index: 0, function: look("") }),
    calls({ index: 0, function: look('{"a":1}') }),
    chunk({}, "tool_calls"),
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const { reply } = await call("http://localhost:8000/v1", `${body}data: [DONE]\n\n`);
  assertEquals(reply.calls.map(({ name, arguments: args }) => ({ name, args })), [
    { name: "look", args: { a: 1 } },
  ]);
});

Deno.test("compatible servers: only the ids of the requested model's calls are sent unchanged", async () => {
  const model = modelSpec("acme/kimi");
  const id = "functions.look:0|" + "x".repeat(64);
  const getIds = async (from: typeof model) => {
    const toolCall = { type: "tool_call", id, name: "look", arguments: {} } as const;
    const messages: LlmMessage[] = [
      prompt("Hi"),
      createReply(from, [toolCall]),
      createToolResult(id, "look", [{ type: "text", text: "Seen." }]),
    ];
    const { body } = await captureRequest(
      (fetch) => createOpenAI({ baseUrl: "http://localhost:8000/v1", fetch }),
      {
        ...createMinimalRequest(model.provider, model.modelId),
        context: { systemPrompt: "", messages, tools: TOOLS },
        options: { apiKey: "sk-test" },
      },
    );
    const text = JSON.stringify(body);
    return [...text.matchAll(/"(?:id|tool_call_id)":"(.*?)"/g)].map(([, sent]) => sent);
  };
  assertEquals(await getIds(model), [id, id]);
  const [call, result] = await getIds(modelSpec("anthropic/claude-opus-4-8"));
  assertEquals(call, result);
  assertMatch(call ?? "", /^[A-Za-z0-9_-]{1,64}$/);
});
