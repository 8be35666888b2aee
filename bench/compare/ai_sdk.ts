import { ARGUMENTS, type Contender, DELTA, MAX_TURNS, type Reply } from "./contender.ts";

const IMPORTS = ["npm:ai@7.0.173", "npm:zod@4.6.7"] as const;

/** The parts of the library that the comparison uses. */
interface AiSdk {
  ToolLoopAgent: new (options: object) => {
    stream(options: object): Promise<{ fullStream: AsyncIterable<StreamPart> }>;
  };
  tool(definition: object): object;
  isStepCount(count: number): unknown;
}

interface StreamPart {
  readonly type: string;
  readonly text?: string;
}

interface Zod {
  object(shape: object): unknown;
  string(): unknown;
}

/** Vercel AI SDK. */
export const aiSdk: Contender = {
  name: "AI SDK 7",
  imports: IMPORTS,
  async load() {
    const [ai, { z }]: [AiSdk, { z: Zod }] = await Promise.all([
      import(IMPORTS[0]),
      import(IMPORTS[1]),
    ]);
    return async ({ replies, lookup, signal }) => {
      let next = 0;
      const agent = new ai.ToolLoopAgent({
        model: {
          specificationVersion: "v4",
          provider: "mock",
          modelId: "mock",
          supportedUrls: {},
          doStream: () =>
            Promise.resolve({ stream: ReadableStream.from(streamReply(replies[next++])) }),
        },
        stopWhen: ai.isStepCount(MAX_TURNS),
        tools: {
          lookup: ai.tool({
            description: "Looks a key up.",
            inputSchema: z.object({ key: z.string() }),
            execute: () => lookup(),
          }),
        },
      });
      let length = 0;
      const { fullStream } = await agent.stream({ prompt: "Look it up", abortSignal: signal });
      for await (const { type, text = "" } of fullStream) {
        if (type === "text-delta") length += text.length;
      }
      return length;
    };
  },
};

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function* streamReply(reply: Reply | undefined): Generator<object> {
  yield { type: "stream-start", warnings: [] };
  if (reply?.type === "call") {
    const { id } = reply;
    yield { type: "tool-input-start", id, toolName: "lookup" };
    yield { type: "tool-input-delta", id, delta: ARGUMENTS };
    yield { type: "tool-input-end", id };
    yield { type: "tool-call", toolCallId: id, toolName: "lookup", input: ARGUMENTS };
    return yield finish("tool-calls");
  }
  yield { type: "text-start", id: "text" };
  for (let delta = 0; delta < (reply?.deltas ?? 0); delta++) {
    yield { type: "text-delta", id: "text", delta: DELTA };
  }
  yield { type: "text-end", id: "text" };
  yield finish("stop");
}

function finish(reason: string): object {
  return { type: "finish", usage: USAGE, finishReason: { unified: reason, raw: undefined } };
}
