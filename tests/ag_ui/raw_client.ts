/**
 * A client of AG-UI that sends any body.
 *
 * @module
 */

import { Agent, type AgentOptions } from "../../mod.ts";
import { agUiHandler } from "../../src/protocols/ag_ui/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";

/** A body: JSON, or bytes. */
type Body = string | ReadableStream<Uint8Array> | object;

/** Creates an agent that calls the tool `look` once. */
export function createAgent(options: Partial<AgentOptions> = {}): Agent {
  const streamFn = scriptedStream([
    reply([{ type: "text", text: "I look" }, toolCall("look", {}, { id: "c1" })]),
    reply("I have seen it"),
  ]);
  return new Agent({
    model: "test/model",
    streamFn,
    tools: [fakeTool({ name: "look" })],
    ...options,
  });
}

/** Returns a function that sends a body to the handler of an agent. */
export function connect(agent: Agent): (body: Body) => Promise<Response> {
  const handler = agUiHandler({ createAgent: () => agent, maxBytes: 100_000 });
  return (body) => {
    const isRaw = typeof body === "string" || body instanceof ReadableStream;
    return handler(
      new Request("http://localhost/", {
        method: "POST",
        body: isRaw ? body : JSON.stringify(body),
        duplex: "half", // which Node needs for a stream
      } as RequestInit),
    );
  };
}

/** The message of {@linkcode INPUT}. */
export const message = { id: "m1", role: "user", content: "Hello" };

/** The input of a run. */
export const INPUT = { threadId: "t", runId: "r", messages: [message] };
