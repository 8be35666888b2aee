import { ARGUMENTS, type Contender, DELTA, MAX_TURNS, type Reply } from "./contender.ts";

const IMPORTS = ["npm:@openai/agents@0.20.0", "npm:zod@4.6.7"] as const;

/** The parts of the library that the comparison uses. */
interface OpenAiAgents {
  Agent: new (options: object) => object;
  Runner: new (options: object) => {
    run(agent: object, prompt: string, options: object): Promise<StreamedRun>;
  };
  tool(definition: object): object;
  setTracingDisabled(isDisabled: boolean): void;
}

interface StreamedRun extends AsyncIterable<StreamEvent> {
  readonly completed: Promise<void>;
}

interface StreamEvent {
  readonly type: string;
  readonly data?: { readonly type: string; readonly delta?: string };
}

interface Zod {
  object(shape: object): unknown;
  string(): unknown;
}

/** OpenAI Agents SDK. */
export const openAiAgents: Contender = {
  name: "OpenAI Agents 0.20",
  imports: IMPORTS,
  async load() {
    const [library, { z }]: [OpenAiAgents, { z: Zod }] = await Promise.all([
      import(IMPORTS[0]),
      import(IMPORTS[1]),
    ]);
    library.setTracingDisabled(true);
    return async ({ replies, lookup, signal }) => {
      let next = 0;
      const agent = new library.Agent({
        name: "bench",
        instructions: "",
        model: { getStreamedResponse: () => streamReply(replies[next++], next) },
        tools: [library.tool({
          name: "lookup",
          description: "Looks a key up.",
          parameters: z.object({ key: z.string() }),
          errorFunction: null,
          execute: () => lookup(),
        })],
      });
      let length = 0;
      const runner = new library.Runner({ tracingDisabled: true });
      const run = await runner.run(agent, "Look it up", {
        stream: true,
        maxTurns: MAX_TURNS,
        signal,
      });
      for await (const { type, data } of run) {
        if (type === "raw_model_stream_event" && data?.type === "output_text_delta") {
          length += data.delta?.length ?? 0;
        }
      }
      await run.completed;
      return length;
    };
  },
};

async function* streamReply(reply: Reply | undefined, number: number): AsyncGenerator<object> {
  yield { type: "response_started" };
  const deltas = reply?.type === "text" ? reply.deltas : 0;
  for (let delta = 0; delta < deltas; delta++) yield { type: "output_text_delta", delta: DELTA };
  const output = reply?.type === "call"
    ? {
      type: "function_call",
      id: reply.id,
      callId: reply.id,
      name: "lookup",
      arguments: ARGUMENTS,
      status: "completed",
    }
    : {
      type: "message",
      id: `message_${number}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: DELTA.repeat(deltas) }],
    };
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  yield { type: "response_done", response: { id: `reply_${number}`, output: [output], usage } };
}
