import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CHAT_TEMPLATE } from "../../../tests/local/tiny_model.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { LlmMessage } from "../../core/messages/message.ts";
import { ChatTemplate } from "./chat_template.ts";
import { PromptBuilder } from "./prompt_builder.ts";

const SPECIAL = { bos: "<s>", eos: "</s>" };
const OPTIONS = { thinks: false, protect: (text: string) => text };
const TOOL = { name: "f", description: "Does f", parameters: { type: "object" } };

async function createBuilder(source: string): Promise<PromptBuilder> {
  return new PromptBuilder(await ChatTemplate.parse(source, SPECIAL));
}

function user(text: string): LlmMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

function assistant(content: Extract<LlmMessage, { role: "assistant" }>["content"]): LlmMessage {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content,
    provider: "local",
    modelId: "m",
    usage,
    cost: usage,
    stopReason: "stop",
    timestamp: 0,
  } as LlmMessage;
}

Deno.test("PromptBuilder: finds the first message of the user where a template ends the conversation", async () => {
  // As those of Phi 3.5 and 4 Mini.
  const builder = await createBuilder(
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]{% endfor %}" +
      "{% if add_generation_prompt %}[assistant]{% else %}{{ eos_token }}{% endif %}",
  );
  const context = { systemPrompt: "Be brief.", messages: [user("Hi"), user("You")], tools: [] };
  const { text, openingLength } = builder.build(context, OPTIONS);
  assertEquals(text.slice(0, openingLength), "[system]Be brief.[end][user]Hi\n\nYou");
});

Deno.test("PromptBuilder: the next prompt begins with the last one and the reply as it was written", async () => {
  const builder = await createBuilder(CHAT_TEMPLATE);
  const context = { systemPrompt: "Be brief.", messages: [user("Hi")], tools: [TOOL] };
  const first = builder.build(context, OPTIONS);
  const content = [
    { type: "thinking", thinking: "Hmm" },
    { type: "tool_call", id: "1", name: "f", arguments: { a: 1 } },
  ] as const;
  const text = '<think>Hmm</think><tool_call>{"name":"f","arguments":{"a":1}}</tool_call>';
  builder.recordReply(content, first.replyStart, text);
  const result: LlmMessage = {
    role: "tool_result",
    toolCallId: "1",
    toolName: "f",
    content: [{ type: "text", text: "done" }],
    isError: false,
    timestamp: 0,
  };
  // The loop may have given the call another id.
  const reply = assistant(
    content.map((block) => block.type === "tool_call" ? { ...block, id: "x" } : block),
  );
  const second = builder.build({ ...context, messages: [user("Hi"), reply, result] }, OPTIONS);
  assert(second.text.startsWith(first.text + text), second.text);
  assertStringIncludes(second.text, "<tool_response>\ndone\n</tool_response>");
});

Deno.test("PromptBuilder: describes the calls of Mistral that begin with the name of the tool", async () => {
  const builder = await createBuilder(
    "{# [TOOL_CALLS][ARGS] #}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}",
  );
  const call = { type: "tool_call", id: "1", name: "f", arguments: { a: 1 } } as const;
  const messages = [user("Hi"), assistant([call])];
  const { text } = builder.build({ systemPrompt: "", messages, tools: [TOOL] }, OPTIONS);
  assertStringIncludes(text, "To call one, write [TOOL_CALLS]NAME[ARGS]{…}.");
  assertStringIncludes(text, '[assistant][TOOL_CALLS]f[ARGS]{"a":1}');
});

Deno.test("PromptBuilder: keeps the text of a reply where a template refuses the tools", async () => {
  // As that of Hermes 3 refuses a parameter without a description.
  const builder = await createBuilder(
    "{% for tool in tools or [] %}{% if not tool.function.parameters.properties %}{{ raise_exception('No') }}{% endif %}" +
      "{{ tool.function.description }}{% endfor %}{% for m in messages %}[{{ m.role }}]{{ m.content }}" +
      "{% for call in m.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}{% endfor %}" +
      "{% if add_generation_prompt %}[assistant]{% endif %}",
  );
  const content = [{ type: "text", text: "Hello" }] as const;
  const context = { systemPrompt: "", messages: [user("Hi")], tools: [TOOL] };
  const first = builder.build(context, OPTIONS);
  assertStringIncludes(first.text, "You can call these tools:");
  builder.recordReply(content, first.replyStart, "<think>Hm</think>Hello");
  const messages = [user("Hi"), assistant(content), user("More")];
  const second = builder.build({ ...context, messages }, OPTIONS);
  assert(second.text.startsWith(`${first.text}<think>Hm</think>Hello`), second.text);
});

Deno.test("PromptBuilder: a reply of another model is written by the template", async () => {
  const builder = await createBuilder(CHAT_TEMPLATE);
  const call = { type: "tool_call", id: "1", name: "f", arguments: { a: 1 } } as const;
  const messages = [user("Hi"), assistant([{ type: "text", text: "Look" }, call])];
  const { text } = builder.build({ systemPrompt: "", messages, tools: [TOOL] }, OPTIONS);
  assertStringIncludes(
    text,
    'Look<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
  );
});

Deno.test("PromptBuilder: the start of a reply is that of the template", async () => {
  const builder = await createBuilder(
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]{% if enable_thinking %}<think>{% else %}<think></think>{% endif %}{% endif %}",
  );
  const context = { systemPrompt: "", messages: [user("Hi")], tools: [] };
  assertEquals(builder.build(context, OPTIONS), {
    text: "[user]Hi[assistant]<think></think>",
    replyStart: "<think></think>",
    openingLength: "[user]Hi".length,
  });
  assertEquals(builder.build(context, { ...OPTIONS, thinks: true }).replyStart, "<think>");
});

Deno.test("PromptBuilder: keeps the start of a reply that a template adds only to the last one", async () => {
  // Templates of Qwen3 do so when the model is not to think.
  const builder = await createBuilder(
    "{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' and loop.last %}<think></think>{% endif %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]<think></think>{% endif %}",
  );
  const context = { systemPrompt: "", messages: [user("Hi")], tools: [] };
  const first = builder.build(context, OPTIONS);
  const content = [{ type: "text", text: "Hello" }] as const;
  builder.recordReply(content, first.replyStart, "Hello");
  const messages = [user("Hi"), assistant(content), user("More")];
  const second = builder.build({ ...context, messages }, OPTIONS);
  assertEquals(
    second.text,
    "[user]Hi[assistant]<think></think>Hello[user]More[assistant]<think></think>",
  );
});

Deno.test("PromptBuilder: a template that trims or repeats replies gets them as messages", async () => {
  const builder = await createBuilder(
    "{% for m in messages %}[{{ m.content }}{{ m.content }}]{% endfor %}",
  );
  const content = [{ type: "text", text: "R" }] as const;
  builder.recordReply(content, "", "RAW");
  const messages = [user("Hi"), assistant(content)];
  const { text } = builder.build({ systemPrompt: "", messages, tools: [] }, OPTIONS);
  assertEquals(text, "[HiHi][RR]");
});

Deno.test("PromptBuilder: tools are described to a template that knows none", async () => {
  const builder = await createBuilder("");
  const call = { type: "tool_call", id: "1", name: "f", arguments: {} } as const;
  const messages = [user("Hi"), assistant([call])];
  const { text } = builder.build({ systemPrompt: "S", messages, tools: [TOOL] }, OPTIONS);
  assertStringIncludes(text, "<|im_start|>system\nS\n\nYou can call these tools:\n");
  assertStringIncludes(text, '{"name":"f","description":"Does f","parameters":{"type":"object"}}');
  assertStringIncludes(text, '<tool_call>{"name": "f", "arguments": {}}</tool_call>');
});

Deno.test("PromptBuilder: a system message that a template refuses is part of the first prompt", async () => {
  const builder = await createBuilder(
    "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ messages[0].content }}",
  );
  const context = { systemPrompt: "S", messages: [user("Hi")], tools: [] };
  assertEquals(builder.build(context, OPTIONS).text, "S\n\nHi");
  const error = assertThrows(
    () => builder.build({ ...context, messages: [] }, OPTIONS),
    BadRequestError,
  );
  assertStringIncludes(error.message, "does not accept the conversation: no system");
});

Deno.test("PromptBuilder: a text cannot take the place of a reply", async () => {
  const builder = await createBuilder(CHAT_TEMPLATE);
  const content = [{ type: "text", text: "R" }] as const;
  builder.recordReply(content, "", "RAW");
  const mark = "\u{10fffd}0\u{10fffd}";
  const messages = [user(mark), assistant(content), user(mark)];
  const { text } = builder.build({ systemPrompt: mark, messages, tools: [] }, OPTIONS);
  assertEquals(text.split("RAW").length, 2);
});

Deno.test("ChatTemplate: an invalid template is an error", async () => {
  const error = await assertRejects(() => ChatTemplate.parse("{% if %}", SPECIAL), BadRequestError);
  assertStringIncludes(error.message, "The chat template of the model is invalid");
});

/** Requires alternation, except for calls and results, and ids of nine characters, as templates of Mistral do. */
const ALTERNATING =
  `{% set ns = namespace(count=0) %}{% for m in messages %}{% if m.role != 'tool' and not m.tool_calls %}{% if (m.role == 'assistant') != (ns.count % 2 == 1) %}{{ raise_exception('must alternate') }}{% endif %}{% set ns.count = ns.count + 1 %}{% endif %}{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}{{ raise_exception('9 characters') }}{% endif %}[TOOL_CALLS][{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}, "id": "{{ c.id }}"}]{% else %}{% if m.role == 'tool' %}[RESULT {{ m.tool_call_id }}]{{ m.content }}{% else %}[{{ m.role }}]{{ m.content }}{% endif %}{% endfor %}{% endfor %}{% if tools %}[TOOLS]{{ tools | tojson }}{% endif %}`;
/** Knows only texts of alternating roles, as templates of Gemma do. */
const ONLY_TEXT =
  `{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('must alternate') }}{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}`;

function result(toolCallId: string, text: string): LlmMessage {
  const content = [{ type: "text", text }] as const;
  return { role: "tool_result", toolCallId, toolName: "f", content, isError: false, timestamp: 0 };
}

function call(id: string) {
  return { type: "tool_call", id, name: "f", arguments: { a: 1 } } as const;
}

Deno.test("PromptBuilder: calls of this model and of others are accepted by a template that requires alternation", async () => {
  const builder = await createBuilder(ALTERNATING);
  const messages = [
    user("Hi"),
    assistant([call("1")]),
    result("1", "one"),
    assistant([call("call_2"), call("3")]),
    result("call_2", "two"),
    result("3", "three"),
    assistant([{ type: "text", text: "Done" }]),
    user("Again"),
  ];
  const context = { systemPrompt: "", messages, tools: [TOOL] };
  const other = builder.build(context, OPTIONS).text;
  assertStringIncludes(other, '"id": "000000002"}]');
  assertStringIncludes(other, "[RESULT 000000003]three[assistant]Done[user]Again");
  builder.recordReply([call("9")], "", '[TOOL_CALLS] [{"name":"f","arguments":{"a":1}}]');
  assertEquals(builder.build(context, OPTIONS).text, other);
});

Deno.test("PromptBuilder: a message after a result is text where a template refuses it", async () => {
  const builder = await createBuilder(ALTERNATING);
  const messages = [user("Hi"), assistant([call("1")]), result("1", "one"), user("Wait")];
  const { text } = builder.build({ systemPrompt: "", messages, tools: [TOOL] }, OPTIONS);
  assertStringIncludes(text, 'To call one, write [TOOL_CALLS][{"name": "…", "arguments": {…}}].');
  assertStringIncludes(text, '[assistant][TOOL_CALLS][{"name": "f", "arguments": {"a":1}}]');
  assertStringIncludes(text, "[user]<tool_response>\none\n</tool_response>\n\nWait");
});

Deno.test("PromptBuilder: a template that knows only texts accepts results, steering and neighbouring replies", async () => {
  const builder = await createBuilder(ONLY_TEXT);
  const messages = [
    user("Hi"),
    assistant([call("1"), call("2")]),
    result("1", "one"),
    result("2", "two"),
    user("Wait"),
    assistant([{ type: "text", text: "A" }]),
    assistant([{ type: "text", text: "B" }]),
  ];
  for (const tools of [[TOOL], []]) {
    for (let length = 1; length <= messages.length; length++) {
      const context = { systemPrompt: "S", messages: messages.slice(0, length), tools };
      const { text, replyStart } = builder.build(context, OPTIONS);
      assert(text.startsWith("[user]S\n\n"), text);
      assertEquals(replyStart, "");
    }
  }
});
