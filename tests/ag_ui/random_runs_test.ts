/**
 * Random runs with retries and sub-agents: in the end, the client has the history of the agent and nothing else.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Agent, type AgentMessage, extractText, type StreamFn } from "../../mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import {
  fail,
  fakeTool,
  reply,
  scriptedStream,
  seededRandom,
  toolCall,
} from "../../src/testing/mod.ts";
import { Client } from "./test_client.ts";

/** A number below a limit. */
type Choose = (limit: number) => number;

/** Creates replies, of which some break off; sub-agents start no others. */
class RandomModel {
  readonly #choose: Choose;
  readonly #turns = new Map<string, number>();
  #parts = 0;

  constructor(choose: Choose) {
    this.#choose = choose;
  }

  readonly stream: StreamFn = (request) => {
    const prompt = request.context.messages.find(({ role }) => role === "user");
    const task = prompt ? extractText(prompt.content) : "";
    if (this.#choose(4) === 0) {
      const step = fail("network_error", "down", { after: this.#createBlocks(task) });
      return scriptedStream([step])(request);
    }
    const turn = (this.#turns.get(task) ?? 0) + 1;
    this.#turns.set(task, turn);
    const blocks = turn > 3 ? this.#createText() : this.#createBlocks(task);
    return scriptedStream([reply(blocks)])(request);
  };

  #createText() {
    return `<text ${++this.#parts}>`;
  }

  #createBlocks(task: string) {
    return Array.from({ length: 1 + this.#choose(4) }, () => {
      const part = ++this.#parts;
      // Some servers repeat the ids of calls.
      const id = { id: `call:${this.#choose(3)}` };
      const kind = this.#choose(task.startsWith("task") ? 3 : 4);
      if (kind === 0) return { type: "thinking", thinking: `<thought ${part}>` } as const;
      if (kind === 1) return { type: "text", text: `<text ${part}>` } as const;
      if (kind === 2) return toolCall("look", { part }, id);
      return toolCall("explore", { prompt: `task ${part}` }, id);
    });
  }
}

/** The parts of the messages of a client or of a history. */
interface Summary {
  readonly texts: readonly string[];
  readonly thoughts: readonly string[];
  readonly calls: readonly string[];
  readonly results: readonly string[];
}

function findParts(text: string): readonly string[] {
  return text.match(/<\w+ \d+>/g) ?? [];
}

function summarizeHistory(messages: readonly AgentMessage[]): Summary {
  const blocks = messages.flatMap((message) => message.role === "assistant" ? message.content : []);
  return {
    texts: blocks.flatMap((block) => block.type === "text" ? findParts(block.text) : []),
    thoughts: blocks.flatMap((block) => block.type === "thinking" ? [block.thinking] : []),
    calls: blocks.flatMap((block) =>
      block.type === "tool_call" ? [`${block.id} ${JSON.stringify(block.arguments)}`] : []
    ),
    results: messages.flatMap((message) =>
      message.role === "tool_result" ? [message.toolCallId] : []
    ),
  };
}

function summarizeClient({ messages }: Client): Summary {
  const own = messages.filter((message) => !("subagentRunId" in message));
  return {
    texts: own.flatMap(({ role, content }) => role === "assistant" ? findParts(content ?? "") : []),
    thoughts: own.flatMap(({ role, content }) =>
      role === "reasoning" && content !== "" ? [content] : []
    ),
    calls: own.flatMap((message) =>
      message.role === "assistant"
        ? (message.toolCalls ?? []).map(({ id, function: { arguments: args } }) => `${id} ${args}`)
        : []
    ),
    results: own.flatMap((message) => message.role === "tool" ? [message.toolCallId] : []),
  };
}

/** Sorts the parts: the texts of one reply may be several messages of the client. */
function sort(summary: Summary): object {
  return Object.fromEntries(
    Object.entries(summary).map(([name, parts]) => [name, parts.toSorted()]),
  );
}

Deno.test("agUiHandler(): after random runs with retries and sub-agents, a client has the history of the agent", async () => {
  const cases = Deno.env.get("SWINK_PROVE") === "1" ? 500 : 15;
  for (let seed = 1; seed <= cases; seed++) {
    const random = seededRandom(seed);
    const model = new RandomModel((limit) => Math.floor(random() * limit));
    const agent = new Agent({
      model: "test/model",
      streamFn: model.stream,
      retry: () => 0,
      sleep: () => Promise.resolve(),
      tools: [
        fakeTool({ name: "look", readOnly: true }),
        subAgentTool({ name: "explore", description: "Looks around.", readOnly: true }),
      ],
    });
    const client = new Client(() => agent);
    await client.send("First");
    await client.send("Second");
    const { messages } = agent.state;
    assertEquals([seed, sort(summarizeClient(client))], [seed, sort(summarizeHistory(messages))]);
  }
});
