import { assert, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type ConvertToLlm, omitCustomMessages } from "../../core/context/context.ts";
import { defineCustomMessage } from "../../core/context/custom_message.ts";
import { userMessage } from "../../core/messages/message.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "./compact.ts";
import { summarize } from "./summarize.ts";

const note = defineCustomMessage({
  type: "note",
  decode: String,
  toLlm: (data, { timestamp }) => userMessage(`Note: ${data}`, timestamp),
});

/** Creates an agent with a note and a secret, which the next long prompt or `compact()` summarizes. */
async function createAgent(convertToLlm?: ConvertToLlm) {
  const summaries = scriptedStream([reply("summary")]);
  const transform = summarize({ streamFn: summaries, contextWindow: 10_000, keepSteps: 1 });
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array(4).fill(reply("ok"))),
    transformContext: transform,
    convertToLlm,
  });
  for (const input of ["start", note.create("milk", 1), `secret ${"x".repeat(16_000)}`]) {
    await agent.prompt(input);
  }
  return { agent, transform, summaries };
}

const convert = note.convert(omitCustomMessages);
const redact: ConvertToLlm = (message) =>
  message.role === "user" && JSON.stringify(message).includes("secret")
    ? { ...message, content: [{ type: "text", text: "[redacted]" }] }
    : convert(message);

Deno.test("summarize(): the request for a summary has messages as convertToLlm converts them", async () => {
  const { agent, summaries } = await createAgent(redact);
  await agent.prompt("x".repeat(20_000));
  const request = JSON.stringify(summaries.calls[0]?.context);
  assertStringIncludes(request, "Note: milk");
  assertStringIncludes(request, "[redacted]");
  assert(!request.includes("secret"));
});

Deno.test("compact(): the request for a summary has messages as convertToLlm converts them", async () => {
  const { agent, transform, summaries } = await createAgent(redact);
  await compact(agent, transform, { tokens: 1_000 });
  const request = JSON.stringify(summaries.calls[0]?.context);
  assertStringIncludes(request, "Note: milk");
  assert(!request.includes("secret"));
});

Deno.test("summarize(): custom messages that the model does not get are in no request for a summary", async () => {
  const { agent, summaries } = await createAgent();
  await agent.prompt("x".repeat(20_000));
  assert(!JSON.stringify(summaries.calls[0]?.context).includes("milk"));
});
