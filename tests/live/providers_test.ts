/**
 * Tests against the real providers. A provider is tested if its variable is set; all of them cost a few cents.
 *
 * `SWINK_LIVE_MODEL_<PROVIDER>` selects another model. It is required for the providers without a default: Azure (the
 * name of a deployment), Ollama and the proxy.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { connect, prices } from "../../adapters/mod.ts";
import { Agent, defineTool, extractText } from "../../mod.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";

/** Provider, environment variable that enables it, and default model. */
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

const PNG_PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const weather = defineTool({
  name: "get_weather",
  description: "Returns the weather in a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  execute: ({ city }) => `Sunny in ${city}, 31 degrees`,
});

for (const [provider, variable, defaultModel] of PROVIDERS) {
  const model = Deno.env.get(`SWINK_LIVE_MODEL_${provider.toUpperCase()}`) ?? defaultModel;
  const ignore = !Deno.env.get(variable) || model === undefined;
  const test = (behaviour: string, fn: (agent: Agent) => Promise<void>) =>
    Deno.test({
      name: `live ${provider}: ${behaviour}`,
      ignore,
      fn: () => fn(new Agent({ model: model ?? "", streamFn: connect(), prices, maxTurns: 4 })),
    });

  test("replies, and reports usage", async (agent) => {
    const { error, usage, messages } = await agent.prompt("Reply with the word pong, only that.");
    assertEquals(error, undefined);
    const last = messages.at(-1);
    assert(last?.role === "assistant");
    assertStringIncludes(extractText(last.content).toLowerCase(), "pong");
    assert(usage.input > 0 && usage.output > 0, JSON.stringify(usage));
  });

  test("calls a tool and uses its result", async (agent) => {
    agent.setTools([weather]);
    const events = await checkEvents(
      agent.promptStream("What is the temperature in Zürich now? Use the tool."),
    );
    assert(events.some(({ type }) => type === "tool_execution_end"));
    const last = agent.state.messages.at(-1);
    assert(last?.role === "assistant");
    assertStringIncludes(extractText(last.content), "31");
  });

  test("stops on abort", async (agent) => {
    const controller = new AbortController();
    agent.subscribe((event) => {
      if (event.type === "message_update") controller.abort("enough");
    });
    const { stopReason } = await agent.prompt("Count from 1 to 500, in words.", {
      signal: controller.signal,
    });
    assertEquals(stopReason, "aborted");
  });

  test("reports an invalid key as auth_error, without the key in the error", async (agent) => {
    const streamFn = connect();
    const unauthorized = new Agent({
      model: agent.state.model,
      streamFn,
      getApiKey: () => "sk-wrong-0123456789abcdef",
    });
    const { error } = await unauthorized.prompt("Hi");
    // A local Ollama server or proxy requires no key.
    if (error === undefined) return assert(["ollama", "proxy"].includes(provider));
    assertEquals(error.code, "auth_error");
    assert(!JSON.stringify(error).includes("0123456789abcdef"));
  });

  test("accepts an image", async (agent) => {
    const image = {
      type: "image",
      source: { type: "base64", mediaType: "image/png", data: PNG_PIXEL },
    } as const;
    const { error, messages } = await agent.prompt({ text: "Is this an image?", images: [image] });
    assertEquals(error, undefined);
    assertEquals(messages.at(-1)?.role, "assistant");
  });
}
