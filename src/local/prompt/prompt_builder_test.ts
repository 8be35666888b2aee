import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { CHAT_TEMPLATE } from "../../../tests/local/tiny_model.ts";
import { BadRequestError } from "../../core/errors.ts";
import type { LlmMessage } from "../../core/message.ts";
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
  });
  assertEquals(builder.build(context, { ...OPTIONS, thinks: true }).replyStart, "<think>");
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
  assertStringIncludes(text, '<tool_call>{"name":"f","arguments":{}}</tool_call>');
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
