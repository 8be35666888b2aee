/**
 * An agent with a tool, which `without_permission_test.ts` runs without permissions.
 *
 * @module
 */

import { Agent, defineTool } from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const agent = new Agent({
  model: "anthropic/claude-sonnet-4-6",
  streamFn: scriptedStream([
    reply([toolCall("add", { one: 19, other: 23 })]),
    reply("The sum is 42."),
  ]),
  tools: [
    defineTool({
      name: "add",
      description: "Adds two numbers.",
      parameters: {
        type: "object",
        properties: { one: { type: "number" }, other: { type: "number" } },
        required: ["one", "other"],
      },
      execute: ({ one, other }) => String(one + other),
    }),
  ],
});

const { messages, stopReason } = await agent.prompt("What is 19 + 23?");
const blocks = messages.flatMap((message) => message.role === "custom" ? [] : message.content);
const texts = blocks.flatMap((block) => block.type === "text" ? block.text : []);
console.log(JSON.stringify({ stopReason, texts }));
