/**
 * Approvals of clients of AG-UI, which are interrupts to them.
 *
 * @module
 */

import type { ResumeEntry } from "@ag-ui/client";
import { assertEquals } from "@std/assert";
import { Agent, extractText } from "../../mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { Client, connect } from "./test_client.ts";

Deno.test("agUiHandler(): a pending approval is an interrupt, and its answer continues the run", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("delete", { path: "a" }, { id: "c1" })]),
    reply("Deleted"),
  ]);
  const remove = fakeTool({ name: "delete" });
  const client = connect({ streamFn, tools: [remove], approve: () => ({ type: "pending" }) });
  await client.send("Delete a");
  const [interrupt] = client.pendingInterrupts;
  assertEquals([interrupt?.reason, interrupt?.toolCallId], ["tool_call", "c1"]);
  assertEquals(interrupt?.metadata, { name: "delete", arguments: { path: "a" } });
  const payload = { approved: true, editedArgs: { path: "b" } };
  await client.runAgent({ resume: [{ interruptId: "c1", status: "resolved", payload }] });
  assertEquals(remove.calls.map((call) => call.arguments), [{ path: "b" }]);
  assertEquals(client.last("RUN_FINISHED")["outcome"], { type: "success" });
});

Deno.test("agUiHandler(): what the user writes with the answer to an approval follows the calls, which all run", async () => {
  const pay = fakeTool({ name: "pay", result: "Paid" });
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([1, 2].map((n) => toolCall("pay", { n }))), reply("Done")]),
    tools: [{ ...pay, executionMode: "sequential" }],
    approve: () => Promise.resolve({ type: "pending" }),
  });
  const client = new Client(() => agent);
  await client.send("Pay");
  const payload = { approved: true };
  await client.send("In euros", {
    resume: client.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status: "resolved",
      payload,
    })),
  });
  const texts = agent.state.messages.slice(2).flatMap((message) =>
    message.role === "custom" ? [] : [`${message.role}: ${extractText(message.content)}`]
  );
  assertEquals(texts, [
    "tool_result: Paid",
    "tool_result: Paid",
    "user: In euros",
    "assistant: Done",
  ]);
  assertEquals(pay.calls.length, 2);
  assertEquals(client.messages.map(({ role }) => role).toSorted(), [
    "assistant",
    "assistant",
    "tool",
    "tool",
    "user",
    "user",
  ]);
});

Deno.test("agUiHandler(): an approval that is sent again after its run has failed continues the conversation", async () => {
  const pay = fakeTool({ name: "pay", result: "Paid" });
  const client = connect({
    streamFn: scriptedStream([
      reply([toolCall("pay", {}, { id: "c1" })]),
      fail("auth_error", "no key"),
      fail("auth_error", "no key"),
      reply("Done"),
    ]),
    tools: [pay],
    approve: () => Promise.resolve({ type: "pending" }),
    retry: () => null,
  });
  await client.send("Pay");
  // To the client, a call waits until a run succeeds.
  const entry: ResumeEntry = {
    interruptId: "c1",
    status: "resolved",
    payload: { approved: true },
  };
  const answers = { resume: [entry] };
  await client.runAgent(answers);
  assertEquals(client.last("RUN_ERROR")["message"], "no key");
  await client.runAgent(answers);
  assertEquals([client.events.at(-1)?.type, client.pendingInterrupts.length], ["RUN_ERROR", 1]);
  const { newMessages } = await client.send("Try again", answers);
  assertEquals(newMessages.map(({ role, content }) => [role, content]), [["assistant", "Done"]]);
  assertEquals([pay.calls.length, client.pendingInterrupts], [1, []]);
});

Deno.test("agUiHandler(): a page that was loaded again gets the interrupts that wait, and its answer continues the run", async () => {
  const pay = fakeTool({ name: "pay", result: "Paid" });
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("pay", {}, { id: "c1" })]), reply("Done")]),
    tools: [pay],
    approve: () => Promise.resolve({ type: "pending" }),
  });
  const page = new Client(() => agent);
  await page.send("Pay");
  for (const messages of [page.messages, []]) {
    const loaded = new Client(() => agent);
    loaded.setMessages(messages);
    await loaded.runAgent();
    assertEquals(loaded.types, ["RUN_STARTED", "RUN_FINISHED"]);
    assertEquals(loaded.pendingInterrupts, page.pendingInterrupts);
    assertEquals([loaded.messages.length, pay.calls.length], [messages.length, 0]);
  }
  const loaded = new Client(() => agent);
  loaded.setMessages(page.messages);
  await loaded.runAgent();
  await loaded.runAgent({
    resume: [{ interruptId: "c1", status: "resolved", payload: { approved: true } }],
  });
  assertEquals([pay.calls.length, loaded.messages.at(-1)?.content], [1, "Done"]);
});

Deno.test("agUiHandler(): an answer that does not approve, or cancels, refuses the call", async () => {
  for (
    const entry of [
      { status: "resolved", payload: { approved: "yes" } },
      { status: "resolved" },
      { status: "cancelled", payload: { approved: true } },
    ] as const
  ) {
    const streamFn = scriptedStream([reply([toolCall("delete", {}, { id: "c1" })]), reply("Ok")]);
    const remove = fakeTool({ name: "delete" });
    const client = connect({ streamFn, tools: [remove], approve: () => ({ type: "pending" }) });
    await client.send("Delete a");
    await client.runAgent({ resume: [{ interruptId: "c1", ...entry }] });
    assertEquals(remove.calls.length, 0);
  }
});

Deno.test("agUiHandler(): what the user writes with an answer is part of the next run if a policy stops this one", async () => {
  let isStopped = false;
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([
      reply([toolCall("pay", {}, { id: "c1" })]),
      reply("Done"),
      reply("More"),
    ]),
    tools: [fakeTool({ name: "pay" })],
    approve: () => Promise.resolve({ type: "pending" }),
    policies: [{
      name: "limit",
      preTurn: () => isStopped ? { type: "stop", reason: "not now" } : undefined,
    }],
  });
  const client = new Client(() => agent);
  const entry: ResumeEntry = {
    interruptId: "c1",
    status: "resolved",
    payload: { approved: true },
  };
  await client.send("Pay");
  isStopped = true;
  await client.send("In euros", { resume: [entry] });
  assertEquals([client.pendingInterrupts.length, agent.queued.steering.length], [1, 1]);
  isStopped = false;
  await client.send("Now", { resume: [entry] });
  const texts = agent.state.messages.flatMap((message) =>
    message.role === "user" ? [extractText(message.content)] : []
  );
  assertEquals(texts, ["Pay", "In euros", "Now"]);
});
