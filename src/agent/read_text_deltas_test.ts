import { assertEquals, assertRejects } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { readResponse } from "../client/mod.ts";
import {
  AbortedError,
  AuthError,
  BudgetExceededError,
  NoMessagesError,
} from "../core/errors/errors.ts";
import { text, thinking, toolCall } from "../testing/messages.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { fail, hang, reply } from "../testing/script.ts";
import { readTextDeltas, type TextSource } from "./read_text_deltas.ts";

/** Reads deltas into a list, also those before a failure. */
async function readInto(deltas: string[], stream: TextSource): Promise<void> {
  for await (const delta of readTextDeltas(stream)) deltas.push(delta);
}

Deno.test("readTextDeltas: yields the text of all replies of the agent, without thinking, arguments and sub-agents", async () => {
  const { agent: helper } = testAgent([reply("Hidden")]);
  const { agent } = testAgent([
    reply([thinking("Hm"), text("Let me ask. "), toolCall("ask", { prompt: "Look" })]),
    reply([text("A "), text("cat")]),
  ], { tools: [helper.asTool({ name: "ask", description: "Asks." }), fakeTool({ name: "look" })] });
  const deltas: string[] = [];
  await readInto(deltas, agent.promptStream("Hi"));
  assertEquals(deltas.join(""), "Let me ask. A cat");
});

Deno.test("readTextDeltas: throws the error of a failed run after the text before it", async () => {
  const { agent } = testAgent([fail("auth_error", "No key", { after: "Half" })]);
  const deltas: string[] = [];
  await assertRejects(() => readInto(deltas, agent.promptStream("Hi")), AuthError, "No key");
  assertEquals(deltas.join(""), "Half");
});

Deno.test("readTextDeltas: throws if an abort or a policy cut off the run, or if there is none", async () => {
  const { agent: aborted } = testAgent([hang({ after: "Half" })]);
  const deltas: string[] = [];
  const reading = readInto(deltas, aborted.promptStream("Hi"));
  aborted.subscribe(({ type }) =>
    type === "message_update" ? void aborted.abort("enough") : undefined
  );
  await assertRejects(() => reading, AbortedError);
  assertEquals(deltas.join(""), "Half");

  const { agent: limited } = testAgent([reply("Long")], {
    policies: [{ name: "short", onDelta: () => ({ type: "stop", reason: "too long" }) }],
  });
  await assertRejects(() => readInto([], limited.promptStream("Hi")), BudgetExceededError);

  const { agent: idle } = testAgent([]);
  await assertRejects(() => readInto([], idle.promptStream([])), NoMessagesError);
});

Deno.test("readTextDeltas: leaving the loop early aborts the run", async () => {
  const { agent } = testAgent([hang({ after: "Half" })]);
  const stream = agent.promptStream("Hi");
  for await (const _ of readTextDeltas(stream)) break;
  assertEquals((await stream.result()).stopReason, "aborted");
});

Deno.test("readTextDeltas: reads the response of a server", async () => {
  const { agent } = testAgent([reply("Hello!"), fail("auth_error", "No key")]);
  const deltas: string[] = [];
  await readInto(deltas, readResponse(agent.promptStream("Hi").toResponse()));
  assertEquals(deltas.join(""), "Hello!");
  const failed = readResponse(agent.promptStream("Hi").toResponse());
  await assertRejects(() => readInto(deltas, failed), AuthError);
});
