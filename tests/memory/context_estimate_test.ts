import { assert } from "@std/assert";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { AssistantMessage, ToolResultMessage } from "../../src/core/message.ts";
import type { Usage } from "../../src/core/usage.ts";
import { countContext } from "../../src/memory/context/context_count.ts";
import { assistantMessage, text, thinking, toolResultMessage } from "../../src/testing/messages.ts";
import { getFixtureDirectory } from "../adapters/wire_fixtures.ts";

const TOLERANCE = 0.15;
const fixturesDirectory = getFixtureDirectory();

/** The tool loops that were recorded, by provider. */
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
  const name = "the estimate of recorded tool loops: SWINK_WIRE_FIXTURES is not set";
  Deno.test({ name, ignore: true, fn() {} });
} else {
  for (const [loop, provider] of Object.entries(LOOPS)) {
    Deno.test(`the second request of ${loop} is estimated within 15 %`, () => {
      const path = (name: string) => `${fixturesDirectory}/scenarios/${loop}/${name}`;
      const first = parseUsage(Deno.readTextFileSync(path("turn-1.response.sse")));
      const second = parseUsage(Deno.readTextFileSync(path("turn-2.response.sse")));
      const request: unknown = JSON.parse(Deno.readTextFileSync(path("turn-2.request.json")));
      const content = loop.includes("thinking") ? [thinking("…"), text("…")] : [text("…")];
      const reply: AssistantMessage = assistantMessage(content, { usage: first, provider });
      const messages = [reply, ...findToolResults(request)];
      assert(messages.length > 1);
      const { used } = countContext({ messages, systemPrompt: "", tools: [] });
      const real = second.input + second.cacheRead + second.cacheWrite;
      const error = (used - real) / real;
      assert(Math.abs(error) <= TOLERANCE, `estimated ${used}, the provider counted ${real}`);
    });
  }
}

/** The usage that a recorded reply ends with, in our own terms. */
function parseUsage(body: string): Usage {
  let told: JsonObject = {};
  for (const line of body.split("\n").filter((line) => line.startsWith("data: {"))) {
    told = { ...told, ...findUsage(JSON.parse(line.slice(6))) };
  }
  const number = (...path: string[]): number => {
    let value: unknown = told;
    for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
    return typeof value === "number" ? value : 0;
  };
  const cacheRead = number("cache_read_input_tokens");
  const cacheWrite = number("cache_creation_input_tokens");
  const prompt = number("prompt_tokens") + number("promptTokenCount") + number("input_tokens");
  const completion = number("completion_tokens") + number("candidatesTokenCount") +
    number("thoughtsTokenCount") + number("output_tokens");
  const total = number("total_tokens") || number("totalTokenCount") || prompt + completion;
  const reasoning = number("completion_tokens_details", "reasoning_tokens");
  // xAI counts reasoning beside the completion.
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

/** The tool results of a recorded request, of whatever provider. */
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
  const words = isJsonObject(block) && typeof block["text"] === "string" ? block["text"] : block;
  const call = { id: "c", name: "tool" };
  return toolResultMessage(call, typeof words === "string" ? words : JSON.stringify(words));
}
