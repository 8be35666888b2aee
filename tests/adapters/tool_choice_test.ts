import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { webSearch } from "../../src/core/streams/server_tool.ts";
import type { StreamOptions, ToolSpec } from "../../src/core/streams/stream.ts";
import { READ_FILE } from "./handmade_streams.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Sends a request, and returns its body as text and the warnings about the tool choice. */
async function send(
  { createStreamFn, model }: ProviderSubject,
  tools: readonly ToolSpec[],
  options: StreamOptions,
): Promise<{ readonly body: string; readonly warnings: readonly string[] }> {
  const context = { systemPrompt: "", messages: [prompt("Hi")], tools };
  const signal = new AbortController().signal;
  const request = { model, context, options, signal };
  const { body, warnings } = await captureRequest((fetch) => createStreamFn({ fetch }), request);
  return {
    body: JSON.stringify(body),
    warnings: warnings.filter(({ code }) => code === "tool_choice_left_out")
      .map(({ message }) => message),
  };
}

Deno.test("adapters: a tool choice without its tool is omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    const missing = await send(subject, [READ_FILE], { toolChoice: { name: "write_file" } });
    const message = 'toolChoice names "write_file", which is not a tool of the request';
    assertEquals(missing.warnings, [message], subject.name);
    assertEquals(missing.body, (await send(subject, [READ_FILE], {})).body, subject.name);
    const required = await send(subject, [], { toolChoice: "required" });
    const problem = "toolChoice requires a call, but the request has no tools";
    assertEquals(required.warnings, [problem], subject.name);
    assertEquals(required.body, (await send(subject, [], {})).body, subject.name);
    for (const toolChoice of ["auto", "none"] as const) {
      const free = await send(subject, [], { toolChoice });
      assertEquals(free.warnings, [], subject.name);
      // Some providers reject any tool choice of a request without tools.
      assertEquals(/tool_?choice/i.test(free.body), subject.name === "proxy", subject.name);
    }
  }
});

Deno.test("adapters: a forced call of a server tool is sent, or omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    const serverTools = [webSearch()];
    for (const toolChoice of ["required", { name: "web_search" }] as const) {
      const { body, warnings } = await send(subject, [], { serverTools, toolChoice });
      const isSent = body !== (await send(subject, [], { serverTools })).body;
      assertEquals(isSent, warnings.length === 0, `${subject.name}: ${warnings}`);
    }
  }
});

/** Model, server, and what is omitted from a request with a forced call: the warning, tool choice and thinking. */
const FORCED_CALLS: readonly (readonly [string, string, string[], boolean, unknown])[] = [
  ["deepseek-v4-pro:high", "https://api.deepseek.com", ["thinking_left_out"], true, "disabled"],
  ["deepseek-v4-pro", "https://api.deepseek.com", [], true, "disabled"],
  ["kimi-k2.6", "https://api.moonshot.ai/v1", ["tool_choice_left_out"], false, undefined],
  ["kimi-k2-thinking", "https://api.moonshot.cn/v1", ["tool_choice_left_out"], false, undefined],
  ["kimi-for-coding", "https://api.kimi.com/coding/v1", ["tool_choice_left_out"], false, undefined],
  ["kimi-k2-0905-preview", "https://api.moonshot.ai/v1", [], true, undefined],
  ["kimi-k3:high", "https://api.moonshot.ai/v1", [], true, undefined],
  [
    "deepseek/deepseek-v4-flash",
    "https://openrouter.ai/api/v1",
    ["tool_choice_left_out"],
    false,
    undefined,
  ],
  [
    "moonshotai/kimi-k2.5",
    "https://openrouter.ai/api/v1",
    ["tool_choice_left_out"],
    false,
    undefined,
  ],
  ["z-ai/glm-5.3", "https://openrouter.ai/api/v1", ["tool_choice_left_out"], false, undefined],
  ["glm-5.3:high", "https://api.z.ai/api/paas/v4", ["tool_choice_left_out"], false, "enabled"],
  ["glm-5.3", "https://open.bigmodel.cn/api/paas/v4", ["tool_choice_left_out"], false, "disabled"],
  ["openai/gpt-4o", "https://openrouter.ai/api/v1", [], true, undefined],
  ["anthropic/claude-fable-5", "https://openrouter.ai/api/v1", [], true, undefined],
  ["anthropic/claude-haiku-5.5", "https://openrouter.ai/api/v1", [], true, undefined],
  [
    "anthropic/claude-fable-5.1",
    "https://openrouter.ai/api/v1",
    ["tool_choice_left_out"],
    false,
    undefined,
  ],
  [
    "anthropic/claude-opus-5.5:high",
    "https://ai-gateway.vercel.sh/v1",
    ["tool_choice_left_out"],
    false,
    undefined,
  ],
  ["claude-sonnet-5-5", "http://localhost:4000/v1", ["tool_choice_left_out"], false, undefined],
  ["qwen3:high", "http://localhost:8000/v1", [], true, undefined],
];

for (const [model, baseUrl, expected, isForced, thinking] of FORCED_CALLS) {
  Deno.test(`chat: a forced call of ${model} at ${baseUrl} has ${expected.join() || "no warning"}`, async () => {
    for (const toolChoice of ["required", { name: READ_FILE.name }] as const) {
      const { body, warnings } = await captureRequest(
        (fetch) => createOpenAI({ fetch, baseUrl }),
        {
          model: modelSpec(`openai/${model}`),
          context: { systemPrompt: "", messages: [prompt("Hi")], tools: [READ_FILE] },
          options: { apiKey: "sk-test", toolChoice },
          signal: new AbortController().signal,
        },
      );
      const codes = warnings.map(({ code }) => code).filter((code) => code !== "unknown_model");
      assertEquals(codes, expected);
      assertEquals(body["tool_choice"] !== undefined, isForced);
      assertEquals(Object(body["thinking"])["type"], thinking);
      if (thinking === "disabled") assertEquals(body["reasoning_effort"], undefined);
    }
  });
}

Deno.test("chat: a tool choice that forces no call leaves thinking and choice as they are", async () => {
  for (const toolChoice of ["auto", "none"] as const) {
    const { body, warnings } = await captureRequest(
      (fetch) => createOpenAI({ fetch, baseUrl: "https://api.deepseek.com" }),
      {
        model: modelSpec("deepseek/deepseek-v4-pro:high"),
        context: { systemPrompt: "", messages: [prompt("Hi")], tools: [READ_FILE] },
        options: { apiKey: "sk-test", toolChoice },
        signal: new AbortController().signal,
      },
    );
    assertEquals(warnings, []);
    assertEquals([body["tool_choice"], body["thinking"]], [toolChoice, { type: "enabled" }]);
  }
});

Deno.test("z.ai: a request that forbids calls has no tools, because tool_choice must be auto", async () => {
  const send = async (toolChoice: "auto" | "none") => {
    const { body, warnings } = await captureRequest(
      (fetch) => createOpenAI({ fetch, baseUrl: "https://api.z.ai/api/paas/v4" }),
      {
        model: modelSpec("zai/glm-5.3"),
        context: { systemPrompt: "", messages: [prompt("Hi")], tools: [READ_FILE] },
        options: { apiKey: "sk-test", toolChoice },
        signal: new AbortController().signal,
      },
    );
    assertEquals(warnings.map(({ code }) => code), ["unknown_model"]);
    return [body["tool_choice"], Object(body["tools"]).length];
  };
  assertEquals(await send("auto"), ["auto", 1]);
  assertEquals(await send("none"), [undefined, undefined]);
});
