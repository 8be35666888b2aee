import { assert } from "@std/assert";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { AssistantMessage, ToolResultMessage } from "../../src/core/messages/message.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import { countContext } from "../../src/memory/context/context_count.ts";
import { assistantMessage, text, thinking, toolResultMessage } from "../../src/testing/messages.ts";
import { getFixtureDirectory } from "../adapters/wire_fixtures.ts";

const TOLERANCE = 0.15;
const fixturesDirectory = getFixtureDirectory();

/** Recorded tool loops and their providers. */
const LOOPS = {
  "anthropic-thinking-tool-loop": "anthropic",
  "anthropic-tool-loop": "anthropic",
  "azure-tool-loop": "azure",
  "google-parallel-tools-loop": "google",
  "groq-tool-loop": "groq",
  "openai-chat-tool-loop": "openai",
  "openai-responses-parallel-tools-loop": "openai",
  "openrouter-anthropic-tool-loop": "openrouter",
  "xai-tool-loop": "xai",
} as const;

if (!fixturesDirectory) {
  const name = "countContext() with recorded tool loops (SWINK_WIRE_FIXTURES is not set)";
  Deno.test({ name, ignore: true, fn() {} });
} else {
  for (const [loop, provider] of Object.entries(LOOPS)) {
    Deno.test(`countContext() estimates the second request of ${loop} within 15 %`, () => {
      const path = (name: string) => `${fixturesDirectory}/scenarios/${loop}/${name}`;
      const first = parseUsage(Deno.readTextFileSync(path("turn-1.response.sse")));
      const second = parseUsage(Deno.readTextFileSync(path("turn-2.response.sse")));
      const request: unknown = JSON.parse(Deno.readTextFileSync(path("turn-2.request.json")));
      const content = loop.includes("thinking") ? [thinking("…"), text("…")] : [text("…")];
      const reply: AssistantMessage = assistantMessage(content, { usage: first, provider });
      const messages = [reply, ...findToolResults(request)];
      assert(messages.length > 1);
      const { used } = countContext({ messages, systemPrompt: "", tools: [] });
      const actual = second.input + second.cacheRead + second.cacheWrite;
      const error = (used - actual) / actual;
      assert(Math.abs(error) <= TOLERANCE, `estimated ${used}, the provider counted ${actual}`);
    });
  }
}

/** Parses the usage at the end of a recorded reply. */
function parseUsage(body: string): Usage {
  let reported: JsonObject = {};
  for (const line of body.split("\n").filter((line) => line.startsWith("data: {"))) {
    reported = { ...reported, ...findUsage(JSON.parse(line.slice(6))) };
  }
  const getNumber = (...path: string[]): number => {
    let value: unknown = reported;
    for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
    return typeof value === "number" ? value : 0;
  };
  const cacheRead = getNumber("cache_read_input_tokens");
  const cacheWrite = getNumber("cache_creation_input_tokens");
  const prompt = getNumber("prompt_tokens") + getNumber("promptTokenCount") +
    getNumber("input_tokens");
  const completion = getNumber("completion_tokens") + getNumber("candidatesTokenCount") +
    getNumber("thoughtsTokenCount") + getNumber("output_tokens");
  const total = getNumber("total_tokens") || getNumber("totalTokenCount") || prompt + completion;
  const reasoning = getNumber("completion_tokens_details", "reasoning_tokens");
  // xAI counts reasoning in addition to the completion.
  const output = Math.max(completion, total - prompt);
  return { input: prompt, output, cacheRead, cacheWrite, total, extra: { reasoning } };
}

function findUsage(event: JsonObject): JsonObject {
  for (const key of ["usage", "usageMetadata"]) if (isJsonObject(event[key])) return event[key];
  for (const key of ["message", "response"]) {
    if (isJsonObject(event[key])) return findUsage(event[key]);
  }
  return {};
}

/** Finds the tool results of a recorded request of any provider. */
function findToolResults(value: unknown): ToolResultMessage[] {
  if (Array.isArray(value)) return value.flatMap(findToolResults);
  if (!isJsonObject(value)) return [];
  if (value["role"] === "tool") return [createToolResult(value["content"])];
  if (value["type"] === "tool_result") return [createToolResult(value["content"])];
  if (value["type"] === "function_call_output") return [createToolResult(value["output"])];
  if (isJsonObject(value["functionResponse"])) return [createToolResult(value["functionResponse"])];
  return Object.values(value).flatMap(findToolResults);
}

function createToolResult(content: unknown): ToolResultMessage {
  const [block] = Array.isArray(content) ? content : [content];
  const value = isJsonObject(block) && typeof block["text"] === "string" ? block["text"] : block;
  const call = { id: "c", name: "tool" };
  return toolResultMessage(call, typeof value === "string" ? value : JSON.stringify(value));
}
