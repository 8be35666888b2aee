/**
 * Prompts an agent of a traced copy and prints the call chain at the first `fetch` as JSON.
 *
 * The arguments are the addresses of the copy's `mod.ts` and of its OpenAI module.
 *
 * @module
 */

import { type FrameState, getCallChain, installTracer } from "./tracer.ts";

/** The part of the public modules that the run needs. */
interface AgentModule {
  Agent: new (options: unknown) => { prompt(text: string): Promise<{ stopReason?: string }> };
}

interface OpenAIModule {
  createOpenAI(options: { apiKey: string; fetch: typeof fetch }): unknown;
}

const [agentUrl = "", adapterUrl = ""] = Deno.args;

const reply = [
  `data: {"id":"1","model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}`,
  `data: {"id":"1","model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
  "data: [DONE]",
  "",
].join("\n\n");

installTracer();
const { Agent }: AgentModule = await import(agentUrl);
const { createOpenAI }: OpenAIModule = await import(adapterUrl);

let chain: FrameState[] | undefined;
const streamFn = createOpenAI({
  apiKey: "key",
  fetch: () => {
    chain ??= getCallChain();
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response(reply, { headers }));
  },
});
await new Agent({ model: "openai/gpt-5", streamFn }).prompt("Hello");
console.log(JSON.stringify(chain ?? []));
