/**
 * Replays of recorded tool loops: given the recorded responses, an agent sends the same conversation as the recorded
 * client.
 *
 * @module
 */

import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAzure } from "../../adapters/azure/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { createXai } from "../../adapters/xai/mod.ts";
import {
  Agent,
  defineTool,
  exponentialBackoff,
  extractText,
  type StreamFn,
  type Usage,
} from "../../mod.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { getFixtureDirectory, isSameValue } from "./wire_fixtures.ts";

interface Turn {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly responseHeaders?: Record<string, string>;
  readonly response: string;
  readonly request: string;
}

/** JSON value of any shape. */
type Json = { readonly [name: string]: Json | undefined } & readonly Json[];

interface Scenario {
  readonly name: string;
  readonly provider: string;
  readonly createStreamFn: (fetch: typeof globalThis.fetch) => StreamFn;
  /** Returns the conversation of a request body. */
  readonly getConversation: (body: Json) => unknown;
  /** Recorded usage of the run. Default: not checked. */
  readonly usage?: Partial<Usage>;
}

const SCENARIOS: readonly Scenario[] = [
  ...["anthropic-tool-loop", "anthropic-thinking-tool-loop"].map((name): Scenario => ({
    name,
    provider: "anthropic",
    createStreamFn: (fetch) => createAnthropic({ fetch }),
    getConversation: ({ messages }) => messages,
  })),
  ...[
    ["openai-chat-tool-loop", "https://api.openai.com/v1"],
    ["groq-tool-loop", "https://api.groq.com/openai/v1"],
    ["openrouter-anthropic-tool-loop", "https://openrouter.ai/api/v1"],
  ].map(([name = "", baseUrl]): Scenario => ({
    name,
    provider: "openai",
    createStreamFn: (fetch) => createOpenAI({ fetch, baseUrl, api: "chat" }),
    getConversation: ({ messages }) => messages,
  })),
  {
    name: "azure-tool-loop",
    provider: "azure",
    createStreamFn: (fetch) =>
      createAzure({ fetch, api: "chat", baseUrl: "https://my-resource.openai.azure.com" }),
    getConversation: ({ messages }) => messages,
  },
  {
    name: "xai-tool-loop",
    provider: "xai",
    createStreamFn: (fetch) => createXai({ fetch }),
    getConversation: ({ messages }) => messages,
    usage: { input: 13, cacheRead: 983, cacheWrite: 0 },
  },
  {
    name: "openai-responses-parallel-tools-loop",
    provider: "openai",
    createStreamFn: (fetch) => createOpenAI({ fetch, api: "responses" }),
    getConversation: ({ input }) => input,
  },
];

const directory = getFixtureDirectory() && `${getFixtureDirectory()}/scenarios`;

for (const scenario of SCENARIOS) {
  Deno.test({
    name: `scenario ${scenario.name}: sends the recorded conversation`,
    ignore: directory === undefined,
    fn: () => replayScenario(scenario),
  });
}

Deno.test({
  name: "scenario anthropic-429-429-200-stream: succeeds after two retries",
  ignore: directory === undefined,
  async fn() {
    const { fetch } = loadRecording("anthropic-429-429-200-stream");
    const agent = new Agent({
      model: "anthropic/claude-sonnet-4-5",
      streamFn: createAnthropic({ fetch, apiKey: "k" }),
      retry: exponentialBackoff({ baseDelayMs: 1 }),
    });
    const { messages, error } = await agent.prompt("Extract order IDs.");
    assertEquals([error, fetch.requests.length], [undefined, 3]);
    assertEquals(getText(messages.at(-1)), "[12345,67890]");
  },
});

async function replayScenario(
  { name, provider, createStreamFn, getConversation, usage }: Scenario,
): Promise<void> {
  const { fetch, requests } = loadRecording(name);
  const [first, second] = requests;
  assert(first && second);
  const agent = new Agent({
    model: `${provider}/${first["model"]}`,
    streamFn: createStreamFn(fetch),
    getApiKey: () => "k",
    systemPrompt: getSystemPrompt(first),
    tools: getToolNames(first).map((tool) =>
      defineTool({
        name: tool,
        description: "",
        parameters: { type: "object" },
        readOnly: true,
        execute: (_args, { toolCallId }) => findResult(second, toolCallId),
      })
    ),
  });
  const result = await agent.prompt(getPrompt(first));
  assertEquals(result.error, undefined);
  assertObjectMatch({ ...result.usage }, { ...usage });
  const sent = JSON.parse(fetch.requests[1]?.body ?? "{}");
  const actual = normalize(getConversation(sent));
  const expected = normalize(getConversation(second));
  assert(
    isSameValue(actual, expected),
    `${JSON.stringify(actual, null, 1)}\n${JSON.stringify(expected, null, 1)}`,
  );
}

function loadRecording(name: string) {
  const { turns }: { turns: Turn[] } = JSON.parse(
    Deno.readTextFileSync(`${directory}/${name}/scenario.json`),
  );
  const read = (file: string) => Deno.readTextFileSync(`${directory}/${name}/${file}`);
  const fetch = replayFetch(turns.map(({ status, contentType, responseHeaders, response }) => ({
    status,
    headers: { "content-type": contentType, ...responseHeaders },
    body: read(response),
  })));
  return { fetch, requests: turns.map(({ request }): Json => JSON.parse(read(request))) };
}

/** Removes differences that the comparison ignores: cache control, system prompts, and the two forms of text. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !/^(system|developer)$/.test(item?.role)).map(normalize);
  }
  if (typeof value !== "object" || value === null) return value;
  const { cache_control: _cacheControl, type, ...rest } = value as Record<string, unknown>;
  const entries = Object.entries(rest).map(([key, member]) => [
    key,
    key === "arguments" ? JSON.parse(String(member)) : normalize(unwrapText(member)),
  ]);
  const isMessage = type === "message";
  return Object.fromEntries(
    type === undefined || isMessage ? entries : [["type", type], ...entries],
  );
}

/** Converts `[{type: "text", text}]` to `text` and `null` to `undefined`. */
function unwrapText(value: unknown): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value ?? undefined;
  const [{ type, text }] = value;
  return /text$/.test(type ?? "") ? text : value;
}

function getMessages(body: Json): readonly Json[] {
  return body["messages"] ?? body["input"] ?? [];
}

function getSystemPrompt(body: Json): string {
  const message = getMessages(body).find((item) =>
    /^(system|developer)$/.test(String(item["role"]))
  );
  return String(body["system"]?.[0]?.["text"] ?? message?.["content"] ?? "");
}

function getPrompt(body: Json): string {
  const content = getMessages(body).find((item) => String(item["role"]) === "user")?.["content"];
  return typeof content === "string" ? content : String(content?.[0]?.["text"]);
}

function getToolNames(body: Json): string[] {
  return (body["tools"] ?? []).map((tool) => String(tool["name"] ?? tool["function"]?.["name"]));
}

/** Finds the recorded result of a call. */
function findResult(body: Json, id: string): string {
  const items = getMessages(body).flatMap((item) => [
    item,
    ...Array.isArray(item["content"]) ? item["content"] : [],
  ]);
  const result = items.find((item) =>
    [item["tool_use_id"], item["tool_call_id"], item["call_id"]].some((found) =>
      String(found) === id
    ) &&
    (item["content"] ?? item["output"]) !== undefined
  );
  return String(unwrapText(result?.["content"] ?? result?.["output"]));
}

function getText(
  message: { readonly role: string; readonly content?: unknown } | undefined,
): string {
  return message?.role === "assistant" ? extractText(message.content as never) : "";
}
