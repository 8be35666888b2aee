import { assertEquals, assertRejects } from "@std/assert";
import { AgentError, type AgentErrorCode, BadRequestError } from "../../src/core/errors/errors.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const city = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const answer = (args: Record<string, unknown>) => reply([toolCall("structured_output", args)]);

Deno.test("structuredOutput() requests the answer as a tool call if the provider rejects the schema", async () => {
  const message = "acme answered 400: output_config.format.schema: unsupported keyword";
  const script = scriptedStream([
    fail("bad_request", message),
    answer({}),
    answer({ city: "Bern" }),
  ]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(script, { hasStrictSchema: () => true }),
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    script.calls.map(({ options, context }) => [
      options.responseSchema !== undefined,
      context.tools.map(({ name }) => name),
    ]),
    [[true, []], [false, ["structured_output"]], [false, ["structured_output"]]],
  );
});

Deno.test("structuredOutput(): the tool call after a rejected schema keeps the tools that policies add and remove", async () => {
  const script = scriptedStream([
    fail("bad_request", "acme answered 400: output_config.format.schema: unsupported keyword"),
    reply([toolCall("look")]),
    reply([toolCall("look")]),
    answer({ city: "Bern" }),
  ]);
  const look = fakeTool({ name: "look" });
  const { agent } = testAgent([], {
    streamFn: Object.assign(script, { hasStrictSchema: () => true }),
    policies: [{
      name: "add",
      preRequest: ({ turn, tools }) =>
        turn < 3 ? { type: "change", tools: [look, ...tools] } : undefined,
    }],
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    script.calls.map(({ context }) => context.tools.map(({ name }) => name)),
    [["look"], ["look", "structured_output"], ["look", "structured_output"], ["structured_output"]],
  );
  assertEquals(look.calls.length, 2);
});

/** Errors about models without tools. */
const NO_TOOLS: readonly (readonly [message: string, code?: AgentErrorCode])[] = [
  ["ollama answered 400: registry.ollama.ai/library/gemma3:4b does not support tools"],
  ["groq answered 400: `tool calling` is not supported with this model"],
  ['vllm answered 400: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  ["bedrock answered 400: This model doesn't support tool use."],
  ["bedrock answered 400: This model doesn't support tool use in streaming mode."],
  ["google answered 400: Function calling is not enabled for models/gemma-3-27b-it"],
  ["deepseek answered 400: deepseek-reasoner does not support Function Calling"],
  ["openai answered 400: Unsupported parameter: 'tools' is not supported with this model."],
  ["openrouter answered 404: No endpoints found that support tool use.", "model_not_found"],
  ["acme answered 400: litellm.UnsupportedParamsError: perplexity does not support parameters: ['tools'], for model=sonar"],
];

Deno.test("structuredOutput() requests the answer as JSON text if the model has no tools", async () => {
  for (const [message, code = "bad_request"] of NO_TOOLS) {
    const script = scriptedStream([
      fail(code, message),
      reply("{}"),
      reply('```json\n{"city":"Bern"}\n```'),
    ]);
    const { agent } = testAgent([], { streamFn: script });
    assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" }, message);
    assertEquals(
      script.calls.map(({ options, context }) => [
        options.responseSchema,
        context.tools.map(({ name }) => name),
        JSON.stringify(context.messages.at(-1)).includes(
          JSON.stringify(JSON.stringify(city)).slice(1, -1),
        ),
      ]),
      [[undefined, ["structured_output"], false], [city, [], true], [city, [], true]],
    );
    assertEquals(JSON.stringify(agent.state.messages).includes("JSON Schema"), false);
  }
});

Deno.test("structuredOutput() only asks for JSON text if the model has neither tools nor schemas", async () => {
  const script = scriptedStream([
    fail("bad_request", "google answered 400: Function calling is not enabled for models/gemma-3"),
    fail("bad_request", "google answered 400: JSON mode is not enabled for models/gemma-3"),
    reply('{"city":"Bern"}'),
  ]);
  const { agent } = testAgent([], { streamFn: script });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(script.calls.map(({ options }) => options.responseSchema), [
    undefined,
    city,
    undefined,
  ]);
});

Deno.test("structuredOutput() only asks for JSON text if the model rejects the schema first, and then tools", async () => {
  const script = scriptedStream([
    fail(
      "bad_request",
      "openai answered 400: 'response_format' of type 'json_schema' is not supported",
    ),
    fail("model_not_found", "openai answered 404: tools is not supported in this model."),
    reply("{}"),
    reply('{"city":"Bern"}'),
  ]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(script, { hasStrictSchema: () => true }),
  });
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    script.calls.map(({ options, context }) => [
      options.responseSchema !== undefined,
      context.tools.length,
      JSON.stringify(context.messages.at(-1)).includes("JSON Schema"),
    ]),
    [[true, 0, false], [false, 1, false], [false, 0, true], [false, 0, true]],
  );
});

Deno.test("structuredOutput() sends JSON text with a smaller context if it is too long with the schema", async () => {
  const script = scriptedStream([
    reply("Hello"),
    fail("bad_request", "ollama answered 400: gemma3:4b does not support tools"),
    fail("context_window_overflow", "too long"),
    reply('{"city":"Bern"}'),
  ]);
  const { agent } = testAgent([], {
    streamFn: script,
    transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
  });
  await agent.prompt("Hi");
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  assertEquals(
    script.calls.map(({ context }) => [context.messages.length, context.tools.length]),
    [[1, 0], [3, 1], [3, 0], [1, 0]],
  );
});

Deno.test("structuredOutput() changes the form of a request that was too long at first, too", async () => {
  const noSchema = fail("bad_request", "vllm answered 400: Failed to compile the grammar");
  const noTools = fail("bad_request", "vllm answered 400: The model does not support tools");
  const tooLong = fail("context_window_overflow", "too long");
  const text = reply('{"city":"Bern"}');
  const cases = [
    [true, [tooLong, noSchema, answer({ city: "Bern" })], [[3, 0], [1, 0], [1, 1]]],
    [true, [tooLong, noSchema, noTools, text], [[3, 0], [1, 0], [1, 1], [1, 0]]],
    [false, [tooLong, noTools, text], [[3, 1], [1, 1], [1, 0]]],
  ] as const;
  for (const [isStrict, steps, sent] of cases) {
    const script = scriptedStream([reply("Hello"), ...steps]);
    const { agent } = testAgent([], {
      streamFn: Object.assign(script, { hasStrictSchema: () => isStrict }),
      transformContext: (messages, { overflow }) => overflow ? messages.slice(-1) : messages,
    });
    await agent.prompt("Hi");
    assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
    const { calls } = script;
    assertEquals(
      calls.slice(1).map(({ context }) => [context.messages.length, context.tools.length]),
      sent.map((lengths) => [...lengths]),
    );
  }
});

Deno.test("structuredOutput() rejects if the model has no tools and the agent needs them, or rejects each form", async () => {
  const noTools = fail("bad_request", "ollama answered 400: gemma3:4b does not support tools");
  const noSchema = fail("bad_request", "ollama answered 400: invalid JSON schema in format");
  const look = fakeTool({ name: "look" });
  const cases = [
    [[noTools], [look]],
    [[noTools, noSchema, noSchema], []],
    [[noTools, noTools], []],
  ] as const;
  for (const [steps, tools] of cases) {
    const script = scriptedStream([...steps]);
    const { agent } = testAgent([], { streamFn: script, tools: [...tools] });
    await assertRejects(() => agent.structuredOutput("Which city?", city), BadRequestError);
    assertEquals(script.calls.length, steps.length);
  }
});

Deno.test("structuredOutput() rejects with an invalid request that is not about the schema", async () => {
  const { agent } = testAgent([], {
    streamFn: Object.assign(scriptedStream([fail("bad_request", "max_tokens is too large")]), {
      hasStrictSchema: () => true,
    }),
  });
  await assertRejects(() => agent.structuredOutput("Which city?", city), BadRequestError);
});

Deno.test("structuredOutput() sends no second request when a listener aborts the run after the rejection", async () => {
  const script = scriptedStream([
    fail("bad_request", "acme answered 400: output_config.format.schema: unsupported keyword"),
  ]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(script, { hasStrictSchema: () => true }),
  });
  atFirst(agent, "model_call_end", () => agent.abort("enough"));
  await assertRejects(() => agent.structuredOutput("Which city?", city), BadRequestError);
  assertEquals(script.calls.length, 1);
});

Deno.test("structuredOutput() sends no second request after a part of the reply, or after an abort", async () => {
  const message = "acme answered 400: output_config.format.schema: unsupported keyword";
  const cause = new AbortController();
  const abort = () => (cause.abort(), fail("bad_request", message));
  for (const step of [fail("bad_request", message, { after: '{"city":' }), abort]) {
    const script = scriptedStream([step, answer({ city: "Bern" })]);
    const { agent } = testAgent([], {
      streamFn: Object.assign(script, { hasStrictSchema: () => true }),
    });
    const { signal } = cause;
    await assertRejects(() => agent.structuredOutput("Which city?", city, { signal }), AgentError);
    assertEquals(script.calls.length, 1);
  }
});

Deno.test("structuredOutput() asks about the model that setModel() has set", async () => {
  const asked: string[] = [];
  const script = scriptedStream([reply('{"city":"Bern"}'), answer({ city: "Rome" })]);
  const hasStrictSchema = ({ modelId }: ModelSpec) => (asked.push(modelId), modelId === "strict");
  const { agent } = testAgent([], { streamFn: Object.assign(script, { hasStrictSchema }) });
  agent.setModel("test/strict");
  assertEquals(await agent.structuredOutput("Which city?", city), { city: "Bern" });
  agent.setModel("test/loose");
  assertEquals(await agent.structuredOutput("And the next?", city), { city: "Rome" });
  assertEquals(asked, ["strict", "loose"]);
  assertEquals(script.calls.map(({ options }) => options.responseSchema), [city, undefined]);
});
