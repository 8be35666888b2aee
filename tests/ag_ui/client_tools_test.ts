/**
 * Tools that an AG-UI client runs.
 *
 * @module
 */

import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { Agent, extractText } from "../../mod.ts";
import { agUiHandler } from "../../src/protocols/ag_ui/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { Client, connect } from "./test_client.ts";

Deno.test("agUiHandler(): a tool of the client ends the run, which continues with its result", async () => {
  for (const isNew of [true, false]) {
    const results: unknown[] = [];
    const steps = [reply([toolCall("color", { to: "red" }, { id: "c1" })]), reply("It is red.")];
    const script = scriptedStream(steps);
    const createAgent = () =>
      new Agent({
        model: "test/model",
        streamFn: (request) => {
          const last = request.context.messages.at(-1);
          if (last?.role === "tool_result") results.push(last.content);
          return script(request);
        },
      });
    const kept = createAgent();
    const client = new Client(() => isNew ? createAgent() : kept);
    const parameters = { type: "object", properties: { to: { type: "string" } } };
    const tools = [{ name: "color", description: "Sets the color", parameters }];
    await client.send("Red, please", { tools });
    assertEquals(client.last("RUN_FINISHED")["outcome"], {
      type: "success",
      pendingToolCallIds: ["c1"],
    });
    assert(!client.types.includes("TOOL_CALL_RESULT"));
    client.addMessage({ id: "r1", role: "tool", toolCallId: "c1", content: "done" });
    await client.runAgent({ tools });
    assertEquals(results, [[{ type: "text", text: "done" }]]);
    assertEquals(client.last("RUN_FINISHED")["result"], "It is red.");
  }
});

Deno.test("agUiHandler(): the result of a client tool that is sent with an approval reaches the model once", async () => {
  const results: string[][] = [];
  const script = scriptedStream([
    reply([toolCall("color", {}, { id: "c1" }), toolCall("pay", {}, { id: "c2" })]),
    reply("Done"),
  ]);
  const agent = new Agent({
    model: "test/model",
    streamFn: (request) => {
      results.push(
        request.context.messages.flatMap((message) =>
          message.role === "tool_result"
            ? [`${message.toolName} ${message.isError} ${extractText(message.content)}`]
            : []
        ),
      );
      return script(request);
    },
    tools: [fakeTool({ name: "pay", result: "paid" })],
    approve: ({ name }) => ({ type: name === "pay" ? "pending" : "approved" }),
  });
  const client = new Client(() => agent);
  const tools = [{ name: "color", description: "Sets the color", parameters: {} }];
  await client.send("Red, please", { tools });
  const outcome = client.last("RUN_FINISHED")["outcome"];
  assertObjectMatch(outcome as object, { type: "interrupt", interrupts: [{ id: "c2" }] });
  const answer = {
    id: "r1",
    role: "tool",
    toolCallId: "c1",
    content: "",
    error: "no red",
  } as const;
  client.addMessage(answer);
  const payload = { approved: true };
  await client.runAgent({ tools, resume: [{ interruptId: "c2", status: "resolved", payload }] });
  assertEquals(results, [[], ["color true no red", "pay false paid"]]);
  assertEquals(client.last("RUN_FINISHED")["outcome"], { type: "success" });
  const answers = client.messages.filter(({ role }) => role === "tool");
  assertEquals(answers.map((message) => "toolCallId" in message && message.toolCallId).toSorted(), [
    "c1",
    "c2",
  ]);
});

Deno.test("agUiHandler(): the late result of a client tool is in the request of a run that an approval continues", async () => {
  const script = scriptedStream([
    reply([toolCall("color", {}, { id: "c1" })]),
    reply([toolCall("pay", {}, { id: "c2" })]),
    reply("Done"),
  ]);
  const pay = fakeTool({ name: "pay", result: "paid" });
  const agent = new Agent({
    model: "test/model",
    streamFn: script,
    tools: [pay],
    approve: ({ name }) => ({ type: name === "pay" ? "pending" : "approved" }),
  });
  const client = new Client(() => agent);
  const tools = [{ name: "color", description: "Sets the color", parameters: {} }];
  await client.send("Red, please", { tools });
  await client.send("And pay", { tools });
  client.addMessage({ id: "r1", role: "tool", toolCallId: "c1", content: "red now" });
  const payload = { approved: true };
  await client.runAgent({ tools, resume: [{ interruptId: "c2", status: "resolved", payload }] });
  const results = script.calls.at(-1)?.context.messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
  assertEquals([results, pay.calls.length], [["red now", "paid"], 1]);
});

Deno.test("agUiHandler(): the texts of a reply around the call of a client tool are one reply in the history of the client", async () => {
  const contents: string[][] = [];
  const steps = [
    reply([
      { type: "text", text: "Red" },
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "it is" },
      toolCall("color", {}, { id: "c1" }),
      { type: "text", text: "." },
    ]),
    reply("Done"),
  ];
  const script = scriptedStream(steps);
  const client = new Client(() =>
    new Agent({
      model: "test/model",
      streamFn: (request) => {
        contents.push(request.context.messages.map(({ role, content }) =>
          `${role}: ${content.map((block) => block.type === "text" ? block.text : block.type)}`
        ));
        return script(request);
      },
    })
  );
  const tools = [{ name: "color", description: "Sets the color", parameters: {} }];
  await client.send("Red, please", { tools });
  client.addMessage({ id: "r1", role: "tool", toolCallId: "c1", content: "done" });
  await client.runAgent({ tools });
  assertEquals(client.last("RUN_FINISHED")["result"], "Done");
  assertEquals(contents.at(-1), [
    "user: Red, please",
    "assistant: Red,it is,.,tool_call",
    "tool_result: done",
  ]);
});

Deno.test("agUiHandler(): replies in the history of a client stay apart, also after one whose id is empty", async () => {
  const streamFn = scriptedStream([reply("Done")]);
  const handler = agUiHandler({
    createAgent: () => new Agent({ model: "test/model", streamFn }),
  });
  const messages = [
    { id: "", role: "assistant", content: "One" },
    { id: "u1", role: "user", content: "Next" },
    { id: "u1-text-1", role: "assistant", content: "Two" },
    { id: "u2", role: "user", content: "Next" },
  ];
  const body = JSON.stringify({ threadId: "t", runId: "r", messages });
  const response = await handler(new Request("http://localhost/", { method: "POST", body }));
  await response.text();
  const [call] = streamFn.calls;
  assertEquals(
    call?.context.messages.map(({ role, content }) => `${role}: ${extractText(content)}`),
    ["assistant: One", "user: Next", "assistant: Two", "user: Next"],
  );
});

Deno.test("agUiHandler(): agents that tools run do not get the tools of the client, which could not answer them", async () => {
  const offered: string[][] = [];
  const script = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" })]),
    reply("Seen"),
    reply("Done"),
  ]);
  const client = connect({
    streamFn: (request) => {
      offered.push(request.context.tools.map(({ name }) => name));
      return script(request);
    },
    tools: [
      subAgentTool({ name: "explore", description: "Looks around." }),
      fakeTool({ name: "look", readOnly: true }),
    ],
  });
  const parameters = { type: "object", properties: {} };
  await client.send("Hello", { tools: [{ name: "color", description: "Sets it", parameters }] });
  assertEquals(offered, [["explore", "look", "color"], ["look"], ["explore", "look", "color"]]);
  assertEquals(client.last("RUN_FINISHED")["result"], "Done");
});
