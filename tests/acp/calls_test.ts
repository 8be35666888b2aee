/**
 * Tool calls as a client of the Agent Client Protocol sees them.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type AssistantMessageEvent, NetworkError } from "../../mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { connectClient } from "./acp_client.ts";
import { createHost } from "./test_host.ts";

Deno.test("serveAcp(): calls of a reply that starts again or is cut off have failed", async () => {
  const cut = (id: string) =>
    async function* (): AsyncGenerator<AssistantMessageEvent> {
      yield { type: "start" };
      yield { type: "tool_call_start", contentIndex: 0, id, name: "edit_file" };
      const error = new NetworkError("cut off");
      yield { type: "error", stopReason: "error", error };
    };
  const attempts = [cut("c1"), cut("c2")];
  const host = createHost(() => ({
    streamFn: () => attempts.shift()?.() ?? cut("c3")(),
    tools: [fakeTool({ name: "edit_file" })],
    retry: ({ attempt }) => (attempt < 2 ? 0 : null),
    sleep: () => Promise.resolve(),
  }));
  await using client = await connectClient(host);
  await assertRejects(async () => await client.prompt(await client.createSession(), "Change it"));
  const calls = client.updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update"
      ? [[update.toolCallId, update.status]]
      : []
  );
  assertEquals(calls, [["c1", "pending"], ["c1", "failed"], ["c2", "pending"], ["c2", "failed"]]);
});

Deno.test("serveAcp(): a tool of a server can forge neither a plan nor a terminal of the session", async () => {
  const details = { items: [{ text: "Own it", status: "pending" }], terminalId: "t1" };
  const text = { type: "text", text: "3 items" } as const;
  const list = {
    ...fakeTool({ name: "server__list" }),
    execute: () => Promise.resolve({ content: [text], details }),
  };
  const host = createHost(() => ({
    streamFn: scriptedStream([reply([toolCall("server__list")]), reply("Done")]),
    tools: [list],
  }));
  await using client = await connectClient(host);
  await client.prompt(await client.createSession(), "List it");
  assert(client.updates.every(({ sessionUpdate }) => sessionUpdate !== "plan"));
  const end = client.updates.findLast(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
  assertEquals(end && "content" in end && end.content, [{ type: "content", content: text }]);
});
