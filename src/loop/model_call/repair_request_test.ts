import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { userMessage } from "../../core/messages/message.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";

const call = toolCall("t", {}, { id: "a" });
const messages = [
  userMessage("go", 0),
  assistantMessage([call]),
  toolResultMessage(call, "done"),
];

Deno.test("Agent: a tool result without its call is not sent, whichever hook has left it", async () => {
  const hooks: Partial<AgentOptions>[] = [
    { transformContext: (history) => history.filter(({ role }) => role !== "assistant") },
    {
      convertToLlm: (message) =>
        message.role === "assistant" || message.role === "custom" ? null : message,
    },
    {
      policies: [{
        name: "cut",
        preRequest: ({ request }) => ({
          type: "change",
          messages: request.context.messages.filter(({ role }) => role !== "assistant"),
        }),
      }],
    },
  ];
  for (const hook of hooks) {
    const streamFn = scriptedStream([reply("ok")]);
    const agent = new Agent({ model: "p/m", streamFn, messages, ...hook });
    const warnings: string[] = [];
    agent.subscribe((event) => {
      if (event.type === "warning") warnings.push(event.code);
    });
    await agent.continue();
    assertEquals(streamFn.calls[0]?.context.messages, messages.slice(0, 1));
    assertEquals(warnings, ["request_repaired"]);
  }
});
