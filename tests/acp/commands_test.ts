/**
 * Commands in prompts of the Agent Client Protocol.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { connectClient } from "./acp_client.ts";
import { RawClient } from "./raw_client.ts";
import { createHost } from "./test_host.ts";

Deno.test("serveAcp(): a command gets what the client embeds, and its prompt keeps the images", async () => {
  const seen: unknown[] = [];
  const commands: string[] = [];
  const scripted = scriptedStream([reply("Ok")]);
  const host = createHost(() => ({
    streamFn: (request) => {
      const last = request.context.messages.at(-1);
      seen.push(...last?.role === "user" ? last.content : []);
      return scripted(request);
    },
  }), {
    runCommand(prompt) {
      commands.push(prompt);
      return { type: "prompt", text: "Fix this" };
    },
  });
  await using client = await connectClient(host);
  await client.agent.request("session/prompt", {
    sessionId: await client.createSession(),
    prompt: [
      { type: "text", text: "/fix" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "resource_link", uri: "file:///b.ts", name: "b.ts" },
    ],
  });
  assertEquals(commands, ["/fix file:///b.ts"]);
  assertEquals(seen, [
    { type: "text", text: "Fix this" },
    { type: "image", source: { type: "base64", mediaType: "image/png", data: "aGk=" } },
  ]);
});

Deno.test("serveAcp(): a command that asks a question ends with its prompt, also if the client never answers", async () => {
  for (const ends of ["session/cancel", "session/close", "$/cancel_request"]) {
    const host = createHost(() => ({ streamFn: scriptedStream([]) }));
    const { signal } = new AbortController();
    const client = new RawClient({
      ...host,
      async createSession(request) {
        const question = { title: "Do it?", answers: [{ id: "yes", name: "Yes", allows: true }] };
        const session = await host.createSession(request);
        const ask = async () => String(await request.client.choose(question, signal));
        return { ...session, runCommand: async () => ({ type: "answer", text: await ask() }) };
      },
    });
    const sessionId = await client.createSession();
    client.send("p", "session/prompt", { sessionId, prompt: [{ type: "text", text: "/do" }] });
    await client.until("session/request_permission");
    if (ends === "session/close") client.send("c", ends, { sessionId });
    else client.write({ jsonrpc: "2.0", method: ends, params: { sessionId, requestId: "p" } });
    assertEquals((await client.answer("p")).result, { stopReason: "cancelled" });
    if (ends === "session/close") assertEquals((await client.answer("c")).result, {});
    client.end();
    await client.served;
  }
});
