/**
 * Sessions that a client opens and deletes, and their history.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { Agent, extractText, SessionError } from "../../mod.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { type AcpHost, serveAcp } from "../../src/protocols/acp/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { connectClient, connectToServer, type ServerStreams } from "./acp_client.ts";
import { createHost } from "./test_host.ts";

Deno.test("serveAcp(): the deletion of a session that does not exist succeeds, and another failure is an error", async () => {
  const store = new InMemorySessionStore();
  const host: AcpHost = {
    ...createHost(() => ({ streamFn: scriptedStream([]) })),
    async deleteSession(id) {
      if (id === "locked") throw new SessionError("It is open elsewhere", { reason: "locked" });
      await store.delete(id);
    },
  };
  await using client = await connectClient(host);
  assertEquals(await client.agent.request("session/delete", { sessionId: "x" }), {});
  await assertRejects(
    () => client.agent.request("session/delete", { sessionId: "locked" }),
    Error,
    "open elsewhere",
  );
});

Deno.test("serveAcp(): the commands of a session that is loaded follow its history", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("Hello"), reply("Hello")]),
  });
  await agent.prompt("Hi");
  await agent.prompt("Hi");
  const commands = [{ name: "cost", description: "Shows the cost" }];
  const host: AcpHost = {
    ...createHost(() => ({ streamFn: scriptedStream([]) })),
    openSession: ({ sessionId: id }) => Promise.resolve({ id, agent, commands }),
  };
  // Each message takes a turn of the event loop, as in a pipe.
  const serve = ({ input, output }: ServerStreams) => {
    const writer = output.getWriter();
    const write = async (bytes: Uint8Array) => {
      await realSleep(0);
      await writer.write(bytes);
    };
    return serveAcp(host, { input, output: new WritableStream({ write }) });
  };
  await using client = await connectToServer(serve);
  await client.agent.request("session/load", { sessionId: "s", cwd: "/work", mcpServers: [] });
  await client.untilUpdate("available_commands_update");
  assertEquals(client.updates.map(({ sessionUpdate }) => sessionUpdate), [
    "user_message_chunk",
    "agent_message_chunk",
    "user_message_chunk",
    "agent_message_chunk",
    "available_commands_update",
  ]);
});

Deno.test("serveAcp(): a prompt that the model has refused, and what followed it, are not part of the next one", async () => {
  const script = scriptedStream([
    reply("Hello"),
    reply([toolCall("edit_file")]),
    fail("content_filtered", "no", { after: "Half" }),
    reply("Fine"),
  ]);
  const host = createHost(() => ({
    streamFn: script,
    tools: [fakeTool({ name: "edit_file" })],
    retry: () => null,
  }));
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  await client.prompt(sessionId, "Hi");
  assertEquals((await client.prompt(sessionId, "Break it")).stopReason, "refusal");
  await client.prompt(sessionId, "Correct it");
  const sent = script.calls.at(-1)?.context.messages.map(({ role, content }) =>
    `${role}: ${extractText(content)}`
  );
  assertEquals(sent, ["user: Hi", "assistant: Hello", "user: Correct it"]);
});
