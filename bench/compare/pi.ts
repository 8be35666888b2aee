import { ARGUMENTS, type Contender, DELTA, type Reply, type RunScenario } from "./contender.ts";

const IMPORTS = [
  "npm:@earendil-works/pi-agent-core@1.6.0",
  "npm:@earendil-works/pi-ai@1.6.0",
] as const;

/** The parts of the library that the comparison uses. */
interface PiAgent {
  Agent: new (options: object) => {
    subscribe(listener: (event: PiEvent) => void): void;
    prompt(text: string): Promise<void>;
    abort(): void;
  };
}

interface PiAi {
  createAssistantMessageEventStream(): PiStream;
}

interface PiStream {
  push(event: object): void;
  end(): void;
}

interface PiEvent {
  readonly type: string;
  readonly assistantMessageEvent?: { readonly type: string; readonly delta?: string };
}

/** The agent of pi. */
export const pi: Contender = {
  name: "pi 1.6",
  imports: IMPORTS,
  async load(): Promise<RunScenario> {
    const [{ Agent }, ai]: [PiAgent, PiAi] = await Promise.all([
      import(IMPORTS[0]),
      import(IMPORTS[1]),
    ]);
    return async ({ replies, lookup, signal }) => {
      let next = 0;
      const tool = {
        name: "lookup",
        label: "lookup",
        description: "Looks a key up.",
        parameters: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
        execute: async () => ({ content: [{ type: "text", text: await lookup() }], details: {} }),
      };
      const agent = new Agent({
        initialState: {
          systemPrompt: "",
          model: MODEL,
          thinkingLevel: "off",
          messages: [],
          tools: [tool],
        },
        streamFn: () => {
          const stream = ai.createAssistantMessageEventStream();
          void pushReply(stream, replies[next++]);
          return stream;
        },
      });
      let length = 0;
      agent.subscribe(({ type, assistantMessageEvent: part }) => {
        if (type === "message_update" && part?.type === "text_delta") {
          length += part.delta?.length ?? 0;
        }
      });
      signal?.addEventListener("abort", () => agent.abort());
      await agent.prompt("Look it up");
      return length;
    };
  },
};

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const MODEL = {
  id: "mock",
  name: "mock",
  api: "mock",
  provider: "mock",
  baseUrl: "http://localhost",
  reasoning: false,
  input: ["text"],
  cost: NO_COST,
  contextWindow: 1_000_000,
  maxTokens: 100_000,
};

/** Pushes events as the providers of pi do, with the message so far in each of them. */
async function pushReply(stream: PiStream, reply: Reply | undefined): Promise<void> {
  await Promise.resolve();
  const content: { type: string; text?: string }[] = [];
  const partial = {
    role: "assistant",
    content,
    api: "mock",
    provider: "mock",
    model: "mock",
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: NO_COST },
    stopReason: reply?.type === "call" ? "toolUse" : "stop",
    timestamp: Date.now(),
  };
  stream.push({ type: "start", partial });
  if (reply?.type === "call") {
    const toolCall = {
      type: "toolCall",
      id: reply.id,
      name: "lookup",
      arguments: JSON.parse(ARGUMENTS),
    };
    content.push(toolCall);
    stream.push({ type: "toolcall_start", contentIndex: 0, partial });
    stream.push({ type: "toolcall_delta", contentIndex: 0, delta: ARGUMENTS, partial });
    stream.push({ type: "toolcall_end", contentIndex: 0, toolCall, partial });
  } else {
    const block = { type: "text", text: "" };
    content.push(block);
    stream.push({ type: "text_start", contentIndex: 0, partial });
    for (let delta = 0; delta < (reply?.deltas ?? 0); delta++) {
      block.text += DELTA;
      stream.push({ type: "text_delta", contentIndex: 0, delta: DELTA, partial });
    }
    stream.push({ type: "text_end", contentIndex: 0, content: block.text, partial });
  }
  stream.push({ type: "done", reason: partial.stopReason, message: partial });
  stream.end();
}
