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
    reply([toolCall("add", { left: 19, right: 23 })]),
    reply("The sum is 42."),
  ]),
  tools: [
    defineTool({
      name: "add",
      description: "Adds two numbers.",
      parameters: {
        type: "object",
        properties: { left: { type: "number" }, right: { type: "number" } },
        required: ["left", "right"],
      },
      execute: ({ left, right }) => String(left + right),
    }),
  ],
});

const { messages, stopReason } = await agent.prompt("What is 19 + 23?");
const blocks = messages.flatMap((message) => message.role === "custom" ? [] : message.content);
const texts = blocks.flatMap((block) => block.type === "text" ? block.text : []);
console.log(JSON.stringify({ stopReason, texts }));
