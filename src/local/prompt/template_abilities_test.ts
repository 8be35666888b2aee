/**
 * Chat templates that leave out parts of a conversation without an error, as published ones do.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AssistantMessage, LlmMessage } from "../../core/messages/message.ts";
import { ChatTemplate } from "./chat_template.ts";
import { PromptBuilder } from "./prompt_builder.ts";

const OPTIONS = { thinks: true, protect: (text: string) => text };
const TOOL = {
  name: "weather",
  description: "Reports the weather",
  parameters: { type: "object" },
};

const TOOLS = "{% if tools %}[tools]{{ tools | tojson }}{% endif %}";
const SYSTEM = "{% if m.role == 'system' %}[system]{{ m.content }}{% endif %}";
const USER = "{% if m.role == 'user' %}[user]{{ m.content }}{% endif %}";
const TEXT = "{% if m.role == 'assistant' %}[assistant]{{ m.content }}{% endif %}";
const CALLS =
  "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}";
const RESULT = "{% if m.role == 'tool' %}[tool]{{ m.content }}{% endif %}";

/** Creates a template that writes these parts of each message. */
function template(before: string, ...parts: readonly string[]): string {
  const reply = "{% if add_generation_prompt %}[assistant]{% endif %}";
  return `${before}{% for m in messages %}${parts.join("")}{% endfor %}${reply}`;
}

async function createBuilder(source: string): Promise<PromptBuilder> {
  return new PromptBuilder(await ChatTemplate.parse(source, { bos: "", eos: "" }));
}

function user(text: string): LlmMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

function assistant(content: AssistantMessage["content"]): LlmMessage {
  return { role: "assistant", content, timestamp: 0 } as unknown as LlmMessage;
}

const CALL = { type: "tool_call", id: "1", name: "weather", arguments: { city: "Oslo" } } as const;
const ANSWER: LlmMessage = {
  role: "tool_result",
  toolCallId: "1",
  toolName: "weather",
  content: [{ type: "text", text: "It rains" }],
  isError: false,
  timestamp: 0,
};

const LOOP = [user("Hi"), assistant([CALL]), ANSWER];

Deno.test("PromptBuilder: a system message that a template leaves out is part of the first message", async () => {
  const builder = await createBuilder(template("", USER, TEXT));
  const context = { systemPrompt: "Be brief.", messages: [user("Hi")], tools: [] };
  assertEquals(builder.build(context, OPTIONS).text, "[user]Be brief.\n\nHi[assistant]");
  const messages = [assistant([{ type: "text", text: "Yes?" }]), user("Hi")];
  assertEquals(
    builder.build({ ...context, messages }, OPTIONS).text,
    "[user]Be brief.[assistant]Yes?[user]Hi[assistant]",
  );
});

Deno.test("PromptBuilder: a system message that a template writes only into the last message of the user is kept", async () => {
  // As that of Mistral Nemo.
  const builder = await createBuilder(
    template(
      `${TOOLS}{% set system = messages[0].content if messages[0].role == 'system' else '' %}`,
      "{% if m.role == 'user' %}[user]{% if loop.last %}{{ system }}{% endif %}{{ m.content }}{% endif %}",
      TEXT,
      CALLS,
      RESULT,
    ),
  );
  const context = { systemPrompt: "Be brief.", messages: LOOP, tools: [TOOL] };
  const { text } = builder.build(context, OPTIONS);
  assertStringIncludes(text, "[user]Be brief.\n\nHi[assistant]");
});

Deno.test("PromptBuilder: tools, calls and results that a template leaves out are text", async () => {
  const templates = {
    complete: template(TOOLS, SYSTEM, USER, TEXT, CALLS, RESULT),
    "tools of a message": template(
      "",
      SYSTEM,
      "{% if m.tools %}{{ m.tools }}{% endif %}",
      USER,
      TEXT,
      CALLS,
      RESULT,
    ),
    "no calls": template(TOOLS, SYSTEM, USER, TEXT, RESULT),
    "no results": template(TOOLS, SYSTEM, USER, TEXT, CALLS),
    "other calls": template(
      TOOLS,
      SYSTEM,
      USER,
      TEXT,
      CALLS.replaceAll("tool_call>", "call>"),
      RESULT,
    ),
    "other objects": template(
      TOOLS + '{# {"tool_name": …, "parameters": {}} #}',
      SYSTEM,
      USER,
      TEXT,
      "{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}",
      RESULT,
    ),
  };
  for (const [name, source] of Object.entries(templates)) {
    const builder = await createBuilder(source);
    const context = { systemPrompt: "Be brief.", messages: LOOP, tools: [TOOL] };
    const { text } = builder.build(context, OPTIONS);
    for (const part of ["Be brief.", "Reports the weather", "Oslo", "It rains"]) {
      assertStringIncludes(text, part, name);
    }
    const isDescribed = text.includes("To call one, write <tool_call>{");
    assertEquals(isDescribed, name !== "complete", `${name}: ${text}`);
    assertEquals(builder.callFormat.open, "<tool_call>", name);
  }
});

Deno.test("PromptBuilder: a result after a recorded reply appears where templates write results with calls", async () => {
  // Templates of Gemma 4 do so, and skip other results.
  const builder = await createBuilder(
    `{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{% set after = loop.index0 + 1 %}${USER}${TEXT}{% for c in m.tool_calls or [] %}<|tool_call>call:{{ c.function.name }}{{ c.function.arguments | tojson }}<tool_call|>{{ messages[after].content }}{% endfor %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}`,
  );
  const context = { systemPrompt: "", messages: [user("Hi")], tools: [TOOL] };
  const { text, replyStart } = builder.build(context, OPTIONS);
  const raw = '<tool_call>{"name":"weather","arguments":{"city":"Oslo"}}</tool_call>';
  builder.recordReply([CALL], replyStart, raw);
  const next = builder.build({ ...context, messages: LOOP }, OPTIONS).text;
  assert(next.startsWith(text + raw), next);
  assertStringIncludes(next, "It rains");
});

Deno.test("PromptBuilder: a template that accepts only a list of tools gets an empty one", async () => {
  const builder = await createBuilder(
    template("{% for t in tools %}{{ t | tojson }}{% endfor %}", SYSTEM, USER, TEXT, CALLS, RESULT),
  );
  const context = { systemPrompt: "S", messages: [user("Hi")], tools: [] };
  assertEquals(builder.build(context, OPTIONS).text, "[system]S[user]Hi[assistant]");
});

/** Starts of replies: of the one to write, of earlier ones, and of earlier ones after the last message of the user. */
const THINKING_STARTS = [
  ["\n<think>\n", "\n", "\n<think>\n\n</think>\n\n"], // Qwen 3.5
  ["<think>", "</think>", "</think>"], // GLM 4.7
  ["\n<think>\n", "\n<think></think>", "\n<think></think>"], // Nemotron 3
  ["", "\n<think></think>\n", "\n<think></think>\n"], // GLM 4.6
] as const;

Deno.test("PromptBuilder: the start of a reply with thinking is kept where templates write it in another way", async () => {
  for (const [start, earlier, inLoop] of THINKING_STARTS) {
    const builder = await createBuilder(
      `${TOOLS}{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}{% for m in messages %}${USER}{% if m.role == 'assistant' %}[assistant]{% if loop.index0 > ns.last %}${inLoop}{% else %}${earlier}{% endif %}{{ m.content }}{% endif %}${CALLS}${RESULT}{% endfor %}{% if add_generation_prompt %}[assistant]${start}{% endif %}`
        .replaceAll("\n", "{{ '\\n' }}"),
    );
    const context = { systemPrompt: "", messages: [user("Hi")], tools: [TOOL] };
    const first = builder.build(context, OPTIONS);
    assert(first.text.endsWith(`[assistant]${start}`), first.text);
    assertEquals(first.replyStart.trim(), start.trim());
    const content = [{ type: "thinking", thinking: "Hm" }, CALL] as const;
    const raw = 'Hm</think><tool_call>{"name":"weather","arguments":{}}</tool_call>';
    builder.recordReply(content, first.replyStart, raw);
    const messages = [user("Hi"), assistant([...content]), ANSWER];
    const second = builder.build({ ...context, messages }, OPTIONS).text;
    assert(second.startsWith(first.text + raw), second);
    const third = builder.build({ ...context, messages: [...messages, user("More")] }, OPTIONS);
    assert(third.text.startsWith(first.text + raw), third.text);
  }
});
