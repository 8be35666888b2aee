import type { AssistantMessageEvent } from "../../mod.ts";
import { ARGUMENTS, type Contender, DELTA, MAX_TURNS, type Reply } from "./contender.ts";

const MODULE = new URL("../../mod.ts", import.meta.url).href;
const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };

/** This library. */
export const swink: Contender = {
  name: "@swink/agent",
  imports: [MODULE],
  async load() {
    const { Agent, defineTool }: typeof import("../../mod.ts") = await import(MODULE);
    return async ({ replies, lookup, signal }) => {
      let next = 0;
      const agent = new Agent({
        model: "mock/mock",
        maxTurns: MAX_TURNS,
        streamFn: () => streamReply(replies[next++]),
        tools: [defineTool({
          name: "lookup",
          description: "Looks a key up.",
          parameters: {
            type: "object",
            properties: { key: { type: "string" } },
            required: ["key"],
          },
          execute: () => lookup(),
        })],
      });
      let length = 0;
      const stream = agent.promptStream("Look it up", signal ? { signal } : {});
      for await (const event of stream) {
        if (event.type !== "message_update" || event.delta.type !== "text_delta") continue;
        length += event.delta.delta.length;
      }
      return length;
    };
  },
};

async function* streamReply(reply: Reply | undefined): AsyncGenerator<AssistantMessageEvent> {
  yield { type: "start" };
  if (reply?.type === "call") {
    yield { type: "tool_call_start", contentIndex: 0, id: reply.id, name: "lookup" };
    yield { type: "tool_call_delta", contentIndex: 0, delta: ARGUMENTS };
    yield { type: "tool_call_end", contentIndex: 0 };
    return yield { type: "done", stopReason: "tool_use", usage: USAGE };
  }
  yield { type: "text_start", contentIndex: 0 };
  for (let delta = 0; delta < (reply?.deltas ?? 0); delta++) {
    yield { type: "text_delta", contentIndex: 0, delta: DELTA };
  }
  yield { type: "text_end", contentIndex: 0 };
  yield { type: "done", stopReason: "stop", usage: USAGE };
}
