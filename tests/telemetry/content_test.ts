/**
 * The content of prompts, replies and calls in spans.
 *
 * @module
 */

import * as api from "@opentelemetry/api";
import { assert, assertEquals } from "@std/assert";
import { Agent, type AgentToolResult, type ImageBlock } from "../../mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { find, register, traceRun, weather } from "./test_tracing.ts";

Deno.test("telemetry(): omits the content unless it is requested", async () => {
  const secret = "canary";
  const streamFn = () =>
    scriptedStream([reply([toolCall("weather", { city: secret })]), reply(secret)]);
  const run = {
    systemPrompt: secret,
    tools: [{ ...weather, parameters: { type: "object" as const } }],
  };
  const spans = await traceRun({ ...run, streamFn: streamFn() });
  assert(
    !JSON.stringify(spans.map(({ attributes, events }) => [attributes, events])).includes(secret),
  );

  const complete = await traceRun({ ...run, streamFn: streamFn() }, { content: true });
  const chat = complete.findLast(({ name }) => name === "chat claude");
  const read = (name: string) => JSON.parse(String(chat?.attributes[name]));
  assertEquals(read("gen_ai.system_instructions"), [{ type: "text", content: secret }]);
  const [user, assistant, tool] = read("gen_ai.input.messages");
  assertEquals(user, { role: "user", parts: [{ type: "text", content: "Hello" }] });
  assertEquals(assistant.finish_reason, "tool_call");
  assertEquals(assistant.parts[0].arguments, { city: secret });
  assertEquals(tool.parts[0].response, [{ type: "text", content: "Sunny" }]);
  assertEquals(read("gen_ai.output.messages"), [
    { role: "assistant", parts: [{ type: "text", content: secret }], finish_reason: "stop" },
  ]);
  assertEquals(read("gen_ai.tool.definitions")[0].name, "weather");
  const call = find(complete, "execute_tool weather").attributes;
  assertEquals(call["gen_ai.tool.call.arguments"], JSON.stringify({ city: secret }));
  assertEquals(
    call["gen_ai.tool.call.result"],
    '{"content":[{"type":"text","content":"Sunny"}]}',
  );
});

Deno.test("telemetry(): content is recorded as a function of the program returns it", async () => {
  const spans = await traceRun({
    systemPrompt: "key sk-1",
    tools: [fakeTool({ name: "read", result: "sk-2" })],
    streamFn: scriptedStream([
      reply([toolCall("read", { path: "sk-3" }), toolCall("sk-4")]),
      reply("It is sk-5"),
    ]),
  }, { content: (text) => text.replaceAll(/sk-\d/g, "[key]") });
  const recorded = JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]));
  assertEquals(/sk-\d/.exec(recorded), null);
  const read = find(spans, "execute_tool read").attributes;
  assertEquals(read["gen_ai.tool.call.arguments"], '{"path":"[key]"}');
  assertEquals(read["gen_ai.tool.call.result"], '{"content":[{"type":"text","content":"[key]"}]}');
  assertEquals(find(spans, "execute_tool _OTHER").attributes["gen_ai.tool.name"], "[key]");
});

Deno.test("telemetry(): content for which the function throws, or returns no text, is left out", async () => {
  const filters = [
    () => {
      throw new Error("No pattern");
    },
    (() => undefined) as unknown as (text: string) => string,
    (() => Promise.reject(new Error("No server"))) as unknown as (text: string) => string,
  ];
  for (const content of filters) {
    const spans = await traceRun({
      tools: [weather],
      streamFn: scriptedStream([
        reply([toolCall("weather", { city: "canary" }), toolCall("canary")]),
        reply("canary"),
      ]),
    }, { content });
    assertEquals(
      JSON.stringify(spans.map(({ attributes }) => attributes)).includes("canary"),
      false,
    );
    assertEquals(find(spans, "execute_tool _OTHER").attributes["gen_ai.tool.name"], "_OTHER");
    assertEquals(spans.filter(({ name }) => name === "chat claude").length, 2);
  }
});

Deno.test("telemetry(): the name of a tool that does not exist is content of the model", async () => {
  const streamFn = () => scriptedStream([reply([toolCall("canary")]), reply("Done")]);
  const spans = await traceRun({ streamFn: streamFn(), tools: [weather] });
  assert(
    !JSON.stringify(spans.map(({ name, attributes }) => [name, attributes])).includes("canary"),
  );
  assertEquals(find(spans, "execute_tool _OTHER").attributes["gen_ai.tool.name"], "_OTHER");
  const complete = await traceRun({ streamFn: streamFn(), tools: [weather] }, { content: true });
  assertEquals(find(complete, "execute_tool _OTHER").attributes["gen_ai.tool.name"], "canary");
});

Deno.test("telemetry(): results are objects, and media in them are described by their type", async () => {
  const image = { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } };
  const results: Record<string, AgentToolResult | string> = {
    json: '{"degrees":21}',
    broken: "{21",
    list: "[21]",
    picture: { content: [image as ImageBlock, { type: "text", text: "A cat" }] },
  };
  const names = Object.keys(results);
  const spans = await traceRun({
    tools: names.map((name) => fakeTool({ name, result: results[name] })),
    streamFn: scriptedStream([reply(names.map((name) => toolCall(name))), reply("Done")]),
  }, { content: true });
  const read = (name: string) =>
    JSON.parse(String(find(spans, `execute_tool ${name}`).attributes["gen_ai.tool.call.result"]));
  assertEquals(read("json"), { degrees: 21 });
  assertEquals(read("broken"), { content: [{ type: "text", content: "{21" }] });
  assertEquals(read("list"), { content: [{ type: "text", content: "[21]" }] });
  assertEquals(read("picture"), {
    content: [{ type: "image", source: "base64" }, { type: "text", content: "A cat" }],
  });
});

Deno.test("telemetry(): computes no attributes for spans that a sampler leaves out", async () => {
  using _registered = register();
  for (const isRecorded of [true, false]) {
    const set: string[] = [];
    const span = {
      isRecording: () => isRecorded,
      setAttributes: (attributes: object) => void set.push(...Object.keys(attributes)),
      addEvent: () => {},
      setStatus: () => {},
      end: () => {},
    };
    const created: string[] = [];
    const agent = new Agent({
      model: "anthropic/claude",
      tools: [weather],
      streamFn: scriptedStream([reply([toolCall("weather")]), reply("Done")]),
    });
    const { observe } = await telemetry({
      api,
      content: true,
      tracer: {
        startSpan: (_name, { attributes = {} }) => {
          created.push(...Object.keys(attributes));
          return span;
        },
      },
    });
    observe(agent);
    await agent.prompt("Hello");
    const contents = [
      "gen_ai.input.messages",
      "gen_ai.output.messages",
      "gen_ai.tool.definitions",
      "gen_ai.tool.call.arguments",
      "gen_ai.tool.call.result",
    ];
    for (const name of contents) assertEquals([name, set.includes(name)], [name, isRecorded]);
    // Samplers decide by what a span has from its start, which needs no content.
    assertEquals(contents.filter((name) => created.includes(name)), []);
    assert(created.includes("gen_ai.tool.name") && created.includes("gen_ai.request.model"));
    assertEquals(set.length > 0, isRecorded);
  }
});

Deno.test("telemetry(): an attribute of a span is set once, also for a model call that is repeated", async () => {
  const spans: string[][] = [];
  const tracer = {
    startSpan(_name: string, { attributes = {} }: { readonly attributes?: object }) {
      const names = Object.keys(attributes);
      spans.push(names);
      return {
        setAttributes: (attributes: object) => void names.push(...Object.keys(attributes)),
        addEvent() {},
        setStatus() {},
        end() {},
      };
    },
  };
  const agent = new Agent({
    model: "openai/gpt",
    systemPrompt: "Be short.",
    streamFn: scriptedStream([fail("network_error", "down"), reply("Done")]),
    streamOptions: { maxTokens: 100 },
    retry: () => 0,
    sleep: () => Promise.resolve(),
  });
  const { observe } = await telemetry({ api, tracer, content: true });
  observe(agent);
  await agent.prompt("Hello");
  for (const names of spans) assertEquals(names, [...new Set(names)]);
  const [, chat = []] = spans;
  for (const part of ["request.max_tokens", "input.messages", "system_instructions"]) {
    assert(chat.includes(`gen_ai.${part}`), part);
  }
});
