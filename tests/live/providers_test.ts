/**
 * The providers themselves. A provider is asked only when its key is set; a run of all of them costs a few cents.
 *
 * `SWINK_LIVE_MODEL_<PROVIDER>` chooses another model, and is needed where no model is everybody's: for Azure (the name
 * of a deployment), Ollama and the proxy.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { connect, prices } from "../../adapters/mod.ts";
import { Agent, defineTool, extractText } from "../../mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";

/** A provider, the variable that says that it may be asked, and a small model of it. */
const PROVIDERS: readonly (readonly [string, string, string?])[] = [
  ["anthropic", "ANTHROPIC_API_KEY", "anthropic/claude-haiku-4-5"],
  ["openai", "OPENAI_API_KEY", "openai/gpt-5-mini:low"],
  ["ollama", "OLLAMA_HOST"],
  ["google", "GEMINI_API_KEY", "google/gemini-2.5-flash"],
  ["azure", "AZURE_OPENAI_API_KEY"],
  ["xai", "XAI_API_KEY", "xai/grok-4.3"],
  ["mistral", "MISTRAL_API_KEY", "mistral/mistral-small-latest"],
  ["bedrock", "AWS_BEARER_TOKEN_BEDROCK", "bedrock/us.amazon.nova-micro-v1:0"],
  ["proxy", "SWINK_PROXY_URL"],
];

const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const weather = defineTool({
  name: "get_weather",
  description: "Tells the weather in a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  execute: ({ city }) => `Sunny in ${city}, 31 degrees`,
});

for (const [provider, key, usual] of PROVIDERS) {
  const model = Deno.env.get(`SWINK_LIVE_MODEL_${provider.toUpperCase()}`) ?? usual;
  const ignore = !Deno.env.get(key) || model === undefined;
  const test = (what: string, fn: (agent: Agent) => Promise<void>) =>
    Deno.test({
      name: `live ${provider}: ${what}`,
      ignore,
      fn: () => fn(new Agent({ model: model ?? "", streamFn: connect(), prices, maxTurns: 4 })),
    });

  test("answers, counts and prices", async (agent) => {
    const { error, usage, messages } = await agent.prompt("Reply with the word pong, only that.");
    assertEquals(error, undefined);
    const last = messages.at(-1);
    assert(last?.role === "assistant");
    assertStringIncludes(extractText(last.content).toLowerCase(), "pong");
    assert(usage.input > 0 && usage.output > 0, JSON.stringify(usage));
  });

  test("calls a tool and reads its result", async (agent) => {
    agent.setTools([weather]);
    const events = await checkEvents(
      agent.promptStream("How many degrees has Zürich now? Use the tool."),
    );
    assert(events.some(({ type }) => type === "tool_execution_end"));
    const last = agent.state.messages.at(-1);
    assert(last?.role === "assistant");
    assertStringIncludes(extractText(last.content), "31");
  });

  test("stops when it is told to", async (agent) => {
    const controller = new AbortController();
    agent.subscribe((event) => {
      if (event.type === "message_update") controller.abort("enough");
    });
    const { stopReason } = await agent.prompt("Count from 1 to 500, in words.", {
      signal: controller.signal,
    });
    assertEquals(stopReason, "aborted");
  });

  test("refuses a wrong key without telling it", async (agent) => {
    const streamFn = connect();
    const wrong = new Agent({
      model: agent.state.model,
      streamFn,
      getApiKey: () => "sk-wrong-0123456789abcdef",
    });
    const { error } = await wrong.prompt("Hi");
    // Ollama on one's own machine, and a proxy there, ask for no key.
    if (error === undefined) return assert(["ollama", "proxy"].includes(provider));
    assertEquals(error.code, "auth_error");
    assert(!JSON.stringify(error).includes("0123456789abcdef"));
  });

  test("sees a picture, or is told that it does not", async (agent) => {
    const image = {
      type: "image",
      source: { type: "base64", mediaType: "image/png", data: PICTURE },
    } as const;
    const { error, messages } = await agent.prompt({ text: "Is this a picture?", images: [image] });
    assertEquals(error, undefined);
    assertEquals(messages.at(-1)?.role, "assistant");
  });
}
