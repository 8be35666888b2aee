/**
 * Sub-agents and retries as a client of AG-UI sees them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Agent, extractText, type StreamRequest } from "../../mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { Client, connect } from "./test_client.ts";

const explore = subAgentTool({ name: "explore", description: "Looks around.", readOnly: true });
const look = fakeTool({ name: "look", readOnly: true, result: "Seen" });
const retries = { retry: () => 0, sleep: () => Promise.resolve() };
const down = (after: string | Parameters<typeof reply>[0]) =>
  fail("network_error", "down", { after });

/** Returns the contents of the messages of a client, with `>` before those of sub-agents. */
function summarize(client: Client): string[] {
  return client.messages.map((message) => {
    const calls = "toolCalls" in message ? message.toolCalls ?? [] : [];
    const text = [message.content ?? "", ...calls.map((call) => call.function.arguments)].join("");
    return `${"subagentRunId" in message ? "> " : ""}${message.role} ${text}`;
  });
}

Deno.test("agUiHandler(): messages of sub-agents are no part of the history that a client sends", async () => {
  const script = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" }, { id: "c1" })]),
    reply([{ type: "text", text: "I look" }, toolCall("look", {}, { id: "c2" })]),
    reply("It is there"),
    reply("Found"),
    reply("Again"),
  ]);
  let sent: StreamRequest["context"]["messages"] = [];
  const client = new Client(() =>
    new Agent({
      model: "test/model",
      tools: [explore, look],
      streamFn: (request) => {
        sent = request.context.messages;
        return script(request);
      },
    })
  );
  await client.send("Where?");
  await client.send("Sure?");
  assertEquals(summarize(client).filter((line) => line.startsWith(">")), [
    "> assistant I look{}",
    "> tool Seen",
    "> assistant It is there",
  ]);
  assertEquals(sent.map(({ role, content }) => [role, extractText(content)]), [
    ["user", "Where?"],
    ["assistant", ""],
    ["tool_result", "It is there"],
    ["assistant", "Found"],
    ["user", "Sure?"],
  ]);
});

Deno.test("agUiHandler(): calls of several agents with the same id are different calls for the client", async () => {
  const client = connect({
    tools: [explore, look],
    streamFn: scriptedStream([
      reply([
        toolCall("explore", { prompt: "A" }, { id: "look:0" }),
        toolCall("explore", { prompt: "B" }, { id: "look:1" }),
      ]),
      reply([toolCall("look", { place: "a" }, { id: "look:0" })]),
      reply([toolCall("look", { place: "b" }, { id: "look:0" })]),
      reply("First"),
      reply("Second"),
      reply("Done"),
    ]),
  });
  await client.send("Look");
  const started = client.events.filter(({ type }) => type === "TOOL_CALL_START");
  const ids = started.map(({ toolCallId }) => toolCallId);
  assertEquals(new Set(ids).size, 4);
  const customs = client.events.filter(({ name }) => name === "swink.tool_execution_end");
  const ended = customs.map(({ value }) => (value as { readonly id: string }).id);
  assertEquals(ended.sort(), ids.sort());
  assertEquals(summarize(client), [
    "user Look",
    'assistant {"prompt":"A"}{"prompt":"B"}',
    "tool First",
    "tool Second",
    '> assistant {"place":"a"}',
    "> tool Seen",
    '> assistant {"place":"b"}',
    "> tool Seen",
    "> assistant First",
    "> assistant Second",
    "assistant Done",
  ]);
});

Deno.test("agUiHandler(): a retry takes back the thoughts of the failed attempt", async () => {
  const client = connect({
    ...retries,
    streamFn: scriptedStream([
      down([{ type: "thinking", thinking: "Half a thought" }]),
      reply([{ type: "thinking", thinking: "A thought" }, { type: "text", text: "Right" }]),
      down([{ type: "text", text: "Wro" }, { type: "thinking", thinking: "Half" }]),
      reply([{ type: "text", text: "Right" }, { type: "text", text: "again" }]),
    ]),
  });
  await client.send("Hello");
  assertEquals(summarize(client), ["user Hello", "reasoning A thought", "assistant Right"]);
  await client.send("And?");
  assertEquals(summarize(client).slice(3), [
    "user And?",
    "reasoning ",
    "assistant Right",
    "assistant again",
  ]);
});

Deno.test("agUiHandler(): a retry takes back nothing but the failed attempt, also while a sub-agent writes", async () => {
  const client = connect({
    ...retries,
    tools: [explore, look],
    streamFn: scriptedStream([
      reply([
        { type: "thinking", thinking: "I delegate" },
        toolCall("explore", { prompt: "Look" }, { id: "c1" }),
      ]),
      down([{ type: "thinking", thinking: "Half" }]),
      down([{ type: "text", text: "Wro" }, toolCall("look", { place: "x" }, { id: "c2" })]),
      reply([{ type: "text", text: "I look" }, toolCall("look", { place: "y" }, { id: "c2" })]),
      down("It is"),
      reply("It is there"),
      down("Fou"),
      reply("Found"),
    ]),
  });
  await client.send("Where?");
  assertEquals(summarize(client), [
    "user Where?",
    "reasoning I delegate",
    'assistant {"prompt":"Look"}',
    "tool It is there",
    "> reasoning ",
    '> assistant I look{"place":"y"}',
    "> tool Seen",
    "> assistant It is there",
    "assistant Found",
  ]);
});

Deno.test("agUiHandler(): a call of a reply that was cut off is taken back, since it is not executed", async () => {
  const script = scriptedStream([
    fail("network_error", "down", {
      after: [{ type: "text", text: "I write" }, toolCall("look", {}, { id: "c1" })],
    }),
    fail("network_error", "down", { after: [toolCall("look", {}, { id: "c1" })] }),
    reply("No"),
  ]);
  let sent: StreamRequest["context"]["messages"] = [];
  const client = new Client(() =>
    new Agent({
      model: "test/model",
      tools: [look],
      retry: () => null,
      streamFn: (request) => {
        sent = request.context.messages;
        return script(request);
      },
    })
  );
  for (const prompt of ["Look", "Look!", "Have you?"]) await client.send(prompt);
  assertEquals(sent.map(({ role, content }) => [role, extractText(content)]), [
    ["user", "Look"],
    ["assistant", "I write"],
    ["user", "Look!"],
    ["user", "Have you?"],
  ]);
});
