/**
 * Models that leave out the start of a call, or the end of the thinking before it.
 */

import { assert, assertEquals } from "@std/assert";
import { Agent, userMessage } from "../../mod.ts";
import { fakeTool } from "../../src/testing/mod.ts";
import { createFixture, toReply, WEATHER } from "./local_fixture.ts";
import { CHAT_TEMPLATE } from "./tiny_model.ts";
import { llama, SCRIPTS } from "./tiny_models.ts";

const ignore = llama === undefined;

Deno.test({
  name: "createLocal(): reads a call with tags of functions without its start, and keeps its text",
  ignore,
}, async () => {
  // As Qwen3-Coder writes some calls.
  const call = [
    "I look.\n\n",
    "<function=",
    "weather>\n<parameter=city>\nOslo",
    "\n</parameter>\n</function>",
    "\n</tool_call>",
  ];
  await using fixture = await createFixture({
    tiny: {
      chatTemplate: `{# <function= #}${CHAT_TEMPLATE}`,
      scripts: [["<|weather|>", ...call, "<|im_end|>"], ...SCRIPTS.slice(3, 4)],
    },
  });
  const first = await fixture.ask("!weather", { tools: [WEATHER] });
  assertEquals(first.text, "I look.\n\n");
  assertEquals(first.calls.map(({ name, arguments: args }) => [name, args]), [
    ["weather", { city: "Oslo" }],
  ]);
  assertEquals(first.stopReason, "tool_use");
  const messages = [userMessage("!weather", 0), toReply(first), {
    role: "tool_result",
    toolCallId: first.calls[0]?.id ?? "",
    toolName: "weather",
    content: [{ type: "text", text: "Sunny" }],
    isError: false,
    timestamp: 0,
  }] as const;
  const second = await fixture.ask(messages, { tools: [WEATHER] });
  assertEquals(second.text, "It is sunny");
  assert((second.usage?.input ?? 1_000) < 80, `${second.usage?.input} tokens were evaluated`);
});

Deno.test({
  name: "createLocal(): reads a call in thinking that does not end, and calls the tool",
  ignore,
}, async () => {
  // As Qwen3.5 writes some calls.
  const reply = [
    "<think>",
    "Hm\n",
    "<tool_call>",
    "\n<function=weather>\n<parameter=city>\nOslo",
    "\n</parameter>\n</function>\n",
    "</tool_call>",
  ];
  await using fixture = await createFixture({
    tiny: {
      chatTemplate: `{# <function= #}${CHAT_TEMPLATE}`,
      scripts: [["<|weather|>", ...reply, "<|im_end|>"], ...SCRIPTS.slice(3, 4)],
    },
  });
  const weather = fakeTool({ ...WEATHER, result: "sunny" });
  const agent = new Agent({ model: "local/tiny", streamFn: fixture.streamFn, tools: [weather] });
  const { text, messages } = await agent.prompt("!weather");
  assertEquals(text, "It is sunny");
  assertEquals(weather.calls.map(({ arguments: args }) => args), [{ city: "Oslo" }]);
  const thinking = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.filter(({ type }) => type === "thinking") : []
  );
  assertEquals(thinking, [{ type: "thinking", thinking: "Hm\n" }]);
});
