// Streams a run as an HTTP response of server-sent events. A client that disconnects aborts the run.

import { Agent } from "@swink/agent";
import { readResponse } from "@swink/agent/client";
import { reply, scriptedStream } from "@swink/agent/testing";

const server = Deno.serve({ port: 0, onListen() {} }, async (request) => {
  // A conversation of several requests would restore `messages` here.
  const agent = new Agent({
    model: "example/scripted",
    streamFn: scriptedStream([reply("Hello over HTTP.")]),
  });
  return agent.promptStream(await request.text()).toResponse({ format: "sse" });
});

const response = await fetch(`http://localhost:${server.addr.port}`, {
  method: "POST",
  body: "Greet me",
});
console.log(response.headers.get("content-type"));

let text = "";
const stream = readResponse(response);
for await (const event of stream) {
  if (event.type === "message_update" && event.delta.type === "text_delta") {
    text += event.delta.delta;
  }
}
const { stopReason } = await stream.result();
console.log(text, stopReason);
await server.shutdown();

// Prints:
// text/event-stream; charset=utf-8
// Hello over HTTP. stop
