/**
 * Random conversations: a page that has followed the runs has what one gets that is loaded after them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { safeValidateUIMessages, type UIMessage } from "ai";
import { Agent, type StreamFn } from "../../mod.ts";
import { toUiMessages } from "../../src/protocols/ai_sdk/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import {
  fail,
  fakeTool,
  reply,
  scriptedStream,
  seededRandom,
  toolCall,
} from "../../src/testing/mod.ts";
import { TestChat } from "./test_chat.ts";

/** A number below a limit. */
type Choose = (limit: number) => number;

/** Creates a model whose replies have up to four random blocks, or none; some break off. */
function createModel(choose: Choose): StreamFn {
  let parts = 0;
  let turns = 0;
  const createBlock = () => {
    const part = ++parts;
    switch (choose(5)) {
      case 0:
        return { type: "thinking", thinking: `thought ${part}` } as const;
      case 1:
        return {
          type: "text",
          text: `text ${part}`,
          citations: [{ type: "url", url: `https://${choose(3)}.example/` }],
        } as const;
      case 2:
        return { type: "text", text: `text ${part}` } as const;
      case 3:
        // Some servers repeat the ids of calls.
        return toolCall("look", { part }, { id: `call:${choose(3)}` });
      default:
        return toolCall(choose(4) === 0 ? "unknown" : "fail", { part }, { id: `call:${part}` });
    }
  };
  return (request) => {
    const blocks = Array.from({ length: choose(5) }, createBlock);
    if (choose(5) === 0) {
      return scriptedStream([fail("network_error", "down", { after: blocks })])(request);
    }
    turns++;
    return scriptedStream([reply(turns % 4 === 0 ? `text ${++parts}` : blocks)])(request);
  };
}

/** Returns messages as a page stores them, without ids of thoughts and empty replies, which only a stream has. */
function normalize(messages: readonly UIMessage[]): unknown {
  const normalized = messages.map(({ id, role, parts }) => ({
    id,
    role,
    parts: parts
      .filter(({ type }, index) => type !== "step-start" || !endsReply(parts[index + 1]))
      .map((part) => part.type === "reasoning" ? { ...part, id: undefined } : part),
  }));
  return JSON.parse(JSON.stringify(normalized.filter(({ parts }) => parts.length > 0)));
}

function endsReply(next: UIMessage["parts"][number] | undefined): boolean {
  return next === undefined || next.type === "step-start";
}

Deno.test("toUiMessages(): a page that is loaded after random runs gets what one has that has followed them", async () => {
  const cases = Deno.env.get("SWINK_PROVE") === "1" ? 2_000 : 60;
  for (let seed = 1; seed <= cases; seed++) {
    const random = seededRandom(seed);
    const choose: Choose = (limit) => Math.floor(random() * limit);
    const agent = new Agent({
      model: "test/model",
      streamFn: createModel(choose),
      retry: () => 0,
      sleep: () => Promise.resolve(),
      tools: [
        fakeTool({
          name: "look",
          result: { content: [{ type: "text", text: "seen" }], details: { seed } },
        }),
        fakeTool({ name: "fail", result: { content: [], isError: true } }),
        subAgentTool({ name: "explore", description: "Looks around." }),
      ],
    });
    const chat = new TestChat({ createAgent: () => agent });
    for (let prompts = 1 + choose(3); prompts > 0; prompts--) {
      await chat.sendMessage({ text: `prompt ${prompts}` });
    }
    const loaded = toUiMessages(agent.state.messages);
    assertEquals([seed, normalize(chat.messages)], [seed, normalize(loaded)]);
    assertEquals((await safeValidateUIMessages({ messages: loaded })).success, true, `${seed}`);
  }
});
