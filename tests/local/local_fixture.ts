/**
 * A stream function with a tiny model, and requests for it.
 *
 * @module
 */

import type { AgentMessage, LlmMessage, StreamRequest } from "../../mod.ts";
import { userMessage } from "../../mod.ts";
import { createLocal, type LocalOptions, type LocalStreamFn } from "../../src/local/mod.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { type CountingLlama, countTokens } from "./counting_llama.ts";
import type { TinyModelOptions } from "./tiny_model.ts";
import { llama, writeTinyModel } from "./tiny_models.ts";

/** A stream function with a tiny model. */
export interface LocalFixture extends AsyncDisposable {
  readonly streamFn: LocalStreamFn;
  readonly counts: CountingLlama;
  /** Path of the model. */
  readonly path: string;
  /** Creates a request whose last message is a text, or with these messages. */
  request(input: string | readonly LlmMessage[], options?: RequestOptions): StreamRequest;
  /** Sends a request and collects the reply. */
  ask(input: string | readonly LlmMessage[], options?: RequestOptions): Promise<CollectedReply>;
}

/** Parts of a request. */
export type RequestOptions =
  & StreamRequest["options"]
  & Partial<Pick<StreamRequest["context"], "tools" | "systemPrompt">>
  & { readonly signal?: AbortSignal; readonly thinks?: boolean };

/** The tool of the tests. */
export const WEATHER = {
  name: "weather",
  description: "Reports the weather of a city",
  parameters: {
    type: "object",
    properties: { city: { enum: ["Oslo", "Bern"] } },
    required: ["city"],
  },
} as const;

/** Creates a stream function with a tiny model. Disposing of it unloads the model. */
export async function createFixture(
  { tiny, ...options }: LocalOptions & { readonly tiny?: TinyModelOptions } = {},
): Promise<LocalFixture> {
  if (!llama) throw new Error("llama.cpp is missing");
  const directory = await Deno.makeTempDir();
  const path = `${directory}/tiny.gguf`;
  await writeTinyModel(path, tiny);
  const counts = countTokens(llama);
  const streamFn = createLocal({
    model: path,
    contextSize: 1024,
    // On a busy machine, threads that wait for each other take seconds per token.
    threads: 1,
    gpu: false,
    idleMs: Infinity,
    ...options,
    llama: counts.package,
  });
  const request: LocalFixture["request"] = (
    input,
    { signal, thinks, tools, systemPrompt, ...rest } = {},
  ) => ({
    model: { provider: "local", modelId: "tiny", thinkingLevel: thinks ? "high" : "off" },
    context: {
      systemPrompt: systemPrompt ?? "Be brief.",
      messages: typeof input === "string" ? [toMessage(input)] : input,
      tools: tools ?? [],
    },
    options: { temperature: 0, maxTokens: 100, ...rest },
    signal: signal ?? new AbortController().signal,
  });
  return {
    streamFn,
    counts,
    path,
    request,
    ask: (input, requestOptions) => readReply(streamFn(request(input, requestOptions))),
    async [Symbol.asyncDispose]() {
      await streamFn.unload();
      await Deno.remove(directory, { recursive: true });
      await untilThreadsAreFree();
    },
  };
}

function toMessage(text: string): LlmMessage {
  return userMessage(text, 0);
}

/** Creates the message of a reply. */
export function toReply({ content }: CollectedReply): LlmMessage {
  const message: AgentMessage = {
    role: "assistant",
    content,
    provider: "local",
    modelId: "tiny",
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    stopReason: "stop",
    timestamp: 0,
  };
  return message as LlmMessage;
}

/** Waits for the timer of `node-llama-cpp` that frees its threads after the last token. */
export function untilThreadsAreFree(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
