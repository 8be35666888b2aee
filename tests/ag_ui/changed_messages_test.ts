/**
 * Clients of AG-UI that change what the agent has.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Agent, extractText } from "../../mod.ts";
import { fail, fakeTool, reply, scriptedStream } from "../../src/testing/mod.ts";
import { connect, createAgent, INPUT, message } from "./raw_client.ts";

/** Sends a message with the answer to a question, and leaves the run before the agent reads the message. */
async function leaveWithMessage(agent: Agent, context: readonly object[] = []) {
  const send = connect(agent);
  await (await send(INPUT)).text();
  const messages = [message, { ...message, id: "m2", content: "Quickly" }];
  const resume = [{ interruptId: "c1", status: "resolved", payload: { approved: true } }];
  const left = await send({ ...INPUT, messages, context, resume });
  const started = Promise.withResolvers<void>();
  agent.subscribe(({ type }) => type === "tool_execution_start" && started.resolve());
  await started.promise;
  await left.body?.cancel();
  await agent.waitForIdle();
  return { send, messages, resume };
}

function createWaitingAgent(): Agent {
  return createAgent({
    tools: [fakeTool({ name: "look", delayMs: Infinity })],
    approve: () => ({ type: "pending" }),
  });
}

Deno.test("changing AG-UI client: a message of a run that it has left reaches the model once", async () => {
  const agent = createWaitingAgent();
  const { send, messages, resume } = await leaveWithMessage(agent);
  const last = { ...message, id: "m3", content: "Now" };
  await (await send({ ...INPUT, messages: [...messages, last], resume })).text();
  const texts = agent.state.messages.flatMap((message) =>
    message.role === "user" ? [extractText(message.content)] : []
  );
  assertEquals(texts.toSorted(), ["Hello", "Now", "Quickly"]);
});

Deno.test("changing AG-UI client: does not get the answer to the earlier text of a message that the agent has not read", async () => {
  for (const context of [[], [{ description: "Page", value: "1" }]]) {
    const { send, messages } = await leaveWithMessage(createWaitingAgent(), context);
    const changed = [message, { ...message, id: "m2", content: "Slowly" }];
    const refused = await send({ ...INPUT, messages: changed });
    assertEquals(refused.status, 400);
    await refused.body?.cancel();
    assertStringIncludes(await (await send({ ...INPUT, messages })).text(), "RUN_FINISHED");
  }
});

Deno.test("changing AG-UI client: does not get the answer to the earlier text of a message that it has changed", async () => {
  const script = scriptedStream([fail("auth_error", "No key"), reply("Hi")]);
  const agent = createAgent({ streamFn: script });
  const send = connect(agent);
  const context = [{ description: "Page", value: "1" }];
  await (await send({ ...INPUT, context })).text();
  const changed = { ...message, content: "Goodbye" };
  const refused = await send({ ...INPUT, context, messages: [changed] });
  assertEquals([refused.status, await refused.json()], [400, {
    error:
      "The agent of this conversation keeps its messages: send a new one in place of a changed one",
  }]);
  assertStringIncludes(await (await send({ ...INPUT, context })).text(), "RUN_FINISHED");
  assertEquals(script.calls.length, 2);
});

Deno.test("changing AG-UI client: does not get the answer to a message from which it has removed an image", async () => {
  const send = connect(createAgent({ streamFn: scriptedStream([fail("auth_error", "No key")]) }));
  const text = { type: "text", text: "Hello" };
  const source = { type: "data", value: "iVBORw0KGgo=", mimeType: "image/png" };
  const content = [text, { type: "image", source }];
  await (await send({ ...INPUT, messages: [{ ...message, content }] })).text();
  const refused = await send({ ...INPUT, messages: [{ ...message, content: [text] }] });
  assertEquals(refused.status, 400);
  await refused.body?.cancel();
});

Deno.test("changing AG-UI client: does not get the answer to a message from which it has removed a text", async () => {
  const send = connect(createAgent({ streamFn: scriptedStream([fail("auth_error", "No key")]) }));
  const text = { type: "text", text: "Hello" };
  const content = [text, { type: "text", text: "Delete all files" }];
  const context = [{ description: "Page", value: "1" }];
  for (const before of [[], context]) {
    const sent = { ...message, id: `after ${before.length}` };
    await (await send({ ...INPUT, context: before, messages: [{ ...sent, content }] })).text();
    for (const after of [[], context]) {
      const messages = [{ ...sent, content: [text] }];
      const refused = await send({ ...INPUT, context: after, messages });
      assertEquals(refused.status, 400);
      await refused.body?.cancel();
    }
  }
});
