/**
 * The endpoint for chats of the AI SDK behind the server of Node, as docs/ai_sdk.md connects it.
 *
 * @module
 */

import { createServer, type ServerResponse } from "node:http";
import { Readable, Writable } from "node:stream";
import { assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import { uiMessageHandler } from "../../src/protocols/ai_sdk/mod.ts";
import { hang, reply, scriptedStream } from "../../src/testing/mod.ts";
import { withDeadline } from "../deadline.ts";
import { TestChat } from "./test_chat.ts";

async function send(response: Response, target: ServerResponse): Promise<void> {
  target.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return void target.end();
  await response.body.pipeTo(Writable.toWeb(target)).catch(() => {});
}

/** Serves a handler, and returns its address. */
async function serve(handle: (request: Request) => Promise<Response>) {
  const server = createServer(async (request, target) => {
    const init = {
      method: request.method,
      ...(request.method === "POST" && { body: Readable.toWeb(request), duplex: "half" }),
    };
    await send(
      await handle(new Request("http://localhost/chat", init as RequestInit)),
      target,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/chat`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

Deno.test("server of Node: a chat is answered, and stop() ends a run whose model is silent", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([hang({ after: "One" }), reply("Two")]),
  });
  const handle = uiMessageHandler({ createAgent: () => agent, keepAliveMs: 0 });
  await using server = await serve(handle);
  const chat = new TestChat({ url: server.url });
  const sent = chat.sendMessage({ text: "Hello" });
  await chat.untilText("One");
  await chat.stop();
  await sent;
  await withDeadline(agent.waitForIdle());
  await chat.resumeStream();
  await chat.sendMessage({ text: "And now?" });
  const texts = chat.parts.map((part) => part.type === "text" && part.text);
  assertEquals([chat.status, texts], ["ready", ["Two"]]);
});

Deno.test("server of Node: a body that is too large is refused before its end", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) });
  const handle = uiMessageHandler({ createAgent: () => agent, maxBytes: 1_000 });
  await using server = await serve(handle);
  const response = await fetch(server.url, { method: "POST", body: "x".repeat(100_000) });
  assertEquals([response.status, await response.text()], [
    400,
    "The body must not be larger than 1000 bytes",
  ]);
});
