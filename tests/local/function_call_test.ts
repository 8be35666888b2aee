/**
 * A model that leaves out the start of a call.
 */

import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../mod.ts";
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
