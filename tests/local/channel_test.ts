/**
 * A model whose replies are messages with channels, as those of gpt-oss.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent, type LlmMessage, userMessage } from "../../mod.ts";
import { ChatTemplate } from "../../src/local/prompt/chat_template.ts";
import { PromptBuilder } from "../../src/local/prompt/prompt_builder.ts";
import { fakeTool } from "../../src/testing/mod.ts";
import { createFixture, WEATHER } from "./local_fixture.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

/** Like that of gpt-oss; the last message selects the script, as in the other template of the tests. */
const TEMPLATE =
  `{{ 'Reasoning: ' + reasoning_effort if reasoning_effort is defined else '' }}{%- if messages[0].role == 'system' or tools -%}
<|start|>developer<|message|>{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}
{%- for tool in tools or [] %}// {{ tool.function.description }}
type {{ tool.function.name }}{% endfor %}<|end|>{% endif %}
{%- set last = namespace(name='') %}
{%- for message in messages %}
{%- if message.role == 'user' %}<|start|>user<|message|>{{ message.content }}<|end|>
{%- elif message.role == 'assistant' and message.tool_calls %}
{%- if message.content and message.thinking %}{{ raise_exception('both') }}{% endif %}
{%- if message.thinking %}<|start|>assistant<|channel|>analysis<|message|>{{ message.thinking }}<|end|>{% endif %}
{%- set last.name = message.tool_calls[0].function.name -%}
<|start|>assistant to=functions.{{ last.name }}<|channel|>commentary json<|message|>{{ message.tool_calls[0].function.arguments | tojson }}<|call|>
{%- elif message.role == 'assistant' %}<|start|>assistant<|channel|>final<|message|>{{ message.content }}<|end|>
{%- elif message.role == 'tool' -%}
{%- if not last.name %}{{ raise_exception('no call') }}{% endif -%}
<|start|>functions.{{ last.name }} to=assistant<|channel|>commentary<|message|>{{ message.content | tojson }}<|end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|start|>assistant{% if messages[-1].role == 'tool' %}<|answer|>{% elif messages[-1].content.startswith('!') %}<|{{ messages[-1].content[1:] }}|>{% endif %}{% endif %}`;

/** With the tokens at the ends of these scripts, llama.cpp does not end a reply at `<|end|>`. */
const SCRIPTS = [
  [
    "<|weather|>",
    "<|channel|>",
    "analysis<|message|>",
    "Hm",
    "<|end|>",
    "<|start|>",
    "assistant<|channel|>commentary to=functions.",
    "weather <|constrain|>json<|message|>",
    '{"city": ',
    '"Oslo"}',
    "<|call|>",
  ],
  ["<|answer|>", "<|channel|>final", "<|message|>", "It", " is", " sunny", "<|return|>"],
];

Deno.test({ name: "createLocal(): runs a tool loop in channels", ignore }, async () => {
  await using fixture = await createFixture({
    tiny: { scripts: SCRIPTS, chatTemplate: TEMPLATE },
  });
  const weather = fakeTool({ ...WEATHER, result: "sunny" });
  const agent = new Agent({
    model: "local/tiny",
    streamFn: fixture.streamFn,
    tools: [weather],
    systemPrompt: "Be brief.",
    maxTurns: 3,
  });
  const { text, messages } = await agent.prompt("!weather");
  assertEquals(text, "It is sunny");
  assertEquals(weather.calls.map(({ arguments: args }) => args), [{ city: "Oslo" }]);
  const contents = messages.flatMap((message) =>
    message.role === "assistant" ? [message.content.map(({ type }) => type)] : []
  );
  assertEquals(contents, [["thinking", "tool_call"], ["text"]]);
});

Deno.test({ name: "createLocal(): forces calls and answers in channels", ignore }, async () => {
  await using fixture = await createFixture({
    tiny: { scripts: SCRIPTS, chatTemplate: TEMPLATE },
  });
  const forced = await fixture.ask("Hi", { tools: [WEATHER], toolChoice: "required" });
  assertEquals(forced.calls.map(({ name }) => name), ["weather"]);
  assertEquals(forced.stopReason, "tool_use");
  const responseSchema = { type: "object", properties: { a: { enum: [1, 2] } }, required: ["a"] };
  const { text } = await fixture.ask("Hi", { responseSchema });
  assert([1, 2].includes(JSON.parse(text).a), text);
});

Deno.test("PromptBuilder: writes several calls of a reply as messages of gpt-oss, with their results", async () => {
  const builder = new PromptBuilder(await ChatTemplate.parse(TEMPLATE, { bos: "", eos: "" }));
  const call = (id: string) => ({ type: "tool_call", id, name: id, arguments: {} });
  const result = (id: string) => ({
    role: "tool_result",
    toolCallId: id,
    toolName: id,
    content: [{ type: "text", text: `of ${id}` }],
  });
  const content = [{ type: "text", text: "Both" }, call("one"), call("two")];
  const messages = [
    userMessage("Hi", 0),
    { role: "assistant", content },
    result("one"),
    result("two"),
  ] as unknown as LlmMessage[];
  const options = { thinks: true, protect: (text: string) => text };
  const { text } = builder.build({ systemPrompt: "", messages, tools: [WEATHER] }, options);
  const parts = ["one", "two"].map((name) =>
    `<|start|>assistant to=functions.${name}<|channel|>commentary json<|message|>{}<|call|>` +
    `<|start|>functions.${name} to=assistant<|channel|>commentary<|message|>"of ${name}"<|end|>`
  );
  assertStringIncludes(text, parts.join(""));
});

Deno.test("PromptBuilder: writes the calls of gpt-oss with the thinking before them", async () => {
  const builder = new PromptBuilder(await ChatTemplate.parse(TEMPLATE, { bos: "", eos: "" }));
  const content = [
    { type: "thinking", thinking: "Hm" },
    { type: "tool_call", id: "1", name: "weather", arguments: { city: "Oslo" } },
  ] as const;
  const messages = [
    userMessage("Hi", 0),
    { role: "assistant", content },
    {
      role: "tool_result",
      toolCallId: "1",
      toolName: "weather",
      content: [{ type: "text", text: "sunny" }],
      isError: false,
      timestamp: 0,
    },
  ] as unknown as LlmMessage[];
  const options = { thinks: true, protect: (text: string) => text };
  const context = { systemPrompt: "Be brief.", messages, tools: [WEATHER] };
  assert(builder.build(context, { ...options, effort: "high" }).text.startsWith("Reasoning: high"));
  builder.recordReply([...content], "", "raw");
  const { text } = builder.build(context, options);
  assertStringIncludes(
    text,
    "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>analysis<|message|>Hm<|end|>" +
      '<|start|>assistant to=functions.weather<|channel|>commentary json<|message|>{"city": "Oslo"}<|call|>' +
      '<|start|>functions.weather to=assistant<|channel|>commentary<|message|>"sunny"<|end|><|start|>assistant',
  );
});
