import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import type { StreamOptions, ToolSpec } from "../../src/core/streams/stream.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { findBedrockProblems, findChatProblems, findGoogleProblems } from "./request_rules.ts";
import { createReply, createToolResult, prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

const apiKey = "sk-test";

/** The nine providers, and models with rules of their own. */
const SUBJECTS: readonly ProviderSubject[] = [
  ...NINE_PROVIDERS.filter(({ name }) => name !== "proxy"),
  {
    name: "gemini 3",
    model: modelSpec("google/gemini-3.8-flash:low"),
    createStreamFn: ({ fetch }) => createGoogle({ apiKey, fetch }),
    findProblems: findGoogleProblems,
  },
  {
    name: "llama on bedrock",
    model: modelSpec("bedrock/us.meta.llama3-3-70b-instruct-v1:0"),
    createStreamFn: ({ fetch }) =>
      createBedrock({ bearerToken: apiKey, region: "us-east-1", fetch }),
    findProblems: findBedrockProblems,
  },
  {
    name: "gpt on bedrock",
    model: modelSpec("bedrock/us.openai.gpt-6-sol:low"),
    createStreamFn: ({ fetch }) =>
      createBedrock({ bearerToken: apiKey, region: "us-east-1", fetch }),
    findProblems: findBedrockProblems,
  },
  {
    name: "gemma on a local server",
    model: modelSpec("openai/gemma-3"),
    createStreamFn: ({ fetch }) => createOpenAI({ baseUrl: "http://localhost:8000", fetch }),
    findProblems: findChatProblems,
  },
];

const texts = fc.constantFrom(
  "Hello",
  "",
  "  \n",
  "ü 👋",
  "\ud800 lone \udc00",
  "Error: x",
  "\u0000",
);
const data = fc.constantFrom("AAAA", "AAA", "A", "AAAAA", "iVBORw0KGgo", "a-_b", "AA==", "AA=", "");
const urls = fc.constantFrom("https://a.example/b.pdf", "data:image/png;base64,AAA", "ftp://a/b");

const sources = fc.oneof(
  fc.record({ type: fc.constant("base64" as const), data }),
  fc.record({ type: fc.constant("url" as const), url: urls }),
  fc.constant({ type: "provider_file" as const, provider: "openai", id: "file_1" }),
);
const media: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.record({
    type: fc.constant("image" as const),
    source: fc.record({
      type: fc.constant("base64" as const),
      data,
      mediaType: fc.constantFrom("image/png", "image/jpg", "image/bmp", "IMAGE/GIF"),
    }),
  }),
  fc.record({
    type: fc.constant("document" as const),
    source: sources,
    mediaType: fc.constantFrom("application/pdf", "text/plain", "text/markdown", "application/zip"),
    name: fc.constantFrom("Größe.pdf", "", "  ", "n".repeat(700), "a/b\\c.pdf"),
    citations: fc.boolean(),
  }),
  fc.record({
    type: fc.constant("audio" as const),
    source: sources,
    mediaType: fc.constantFrom("audio/wav", "audio/mp3"),
  }),
);
const text: fc.Arbitrary<ContentBlock> = fc.record({
  type: fc.constant("text" as const),
  text: texts,
});
const input = fc.array(fc.oneof({ weight: 3, arbitrary: text }, media), { maxLength: 3 });

/** Items of providers in a reply; those of server tools have the id `{id}`. */
const ITEMS: Readonly<Record<string, JsonObject>> = {
  "openai.reasoning": { id: "rs", type: "reasoning", summary: [], encrypted_content: "ZW5j" },
  "openai.web_search_call": { id: "ws", type: "web_search_call" },
  "anthropic.server_tool_use": {
    type: "server_tool_use",
    id: "{id}",
    name: "web_search",
    input: {},
  },
  "anthropic.web_search_tool_result": {
    type: "web_search_tool_result",
    tool_use_id: "{id}",
    content: [],
  },
  "google.part": { executableCode: { code: "1", language: "PYTHON" } },
};

function createItem(typeName: string, index: number): ContentBlock {
  const data = JSON.parse(JSON.stringify(ITEMS[typeName]).replace("{id}", `srv_${index}`));
  return { type: "extension", typeName, data };
}

/** A random reply, and the results of its calls. */
interface Answer {
  readonly model: ModelSpec;
  readonly text: string;
  readonly signature: string | null;
  readonly items: readonly string[];
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly value: string;
    readonly result: readonly ContentBlock[];
    readonly isError: boolean;
  }[];
}

/** Creates replies, half of them of the requested model. */
const createAnswers = (own: ModelSpec): fc.Arbitrary<Answer> =>
  fc.record({
    model: fc.oneof(
      fc.constant(own),
      fc.constantFrom(...SUBJECTS.map(({ model }) => model)),
    ),
    text: texts,
    signature: fc.option(fc.constantFrom("", "c2lnbmF0dXJl")),
    items: fc.subarray(Object.keys(ITEMS)),
    calls: fc.array(
      fc.record({
        id: fc.constantFrom("call", "toolu_01", "functions.look:0", "x".repeat(50), "ü|+/="),
        name: fc.constantFrom("look", "list.all", "ü", "n".repeat(90), "9lives"),
        value: texts,
        result: input,
        isError: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
  });

/** Creates the messages of an answer; `index` makes the ids of its calls unique, as those in a history are. */
function toMessages({ model, text, signature, items, calls }: Answer, index: number): LlmMessage[] {
  const named = calls.map((call, position) => ({ ...call, id: `${call.id}${index}${position}` }));
  const thinking: ContentBlock[] = signature === null
    ? []
    : [{ type: "thinking", thinking: "Hm.", signature }];
  return [
    createReply(model, [
      ...thinking,
      ...items.map((item) => createItem(item, index)),
      { type: "text", text },
      ...named.map(({ id, name, value }): ContentBlock => ({
        type: "tool_call",
        id,
        name,
        arguments: { value },
      })),
    ]),
    ...named.map(({ id, name, result, isError }) => createToolResult(id, name, result, isError)),
  ];
}

const createConversations = (own: ModelSpec): fc.Arbitrary<LlmMessage[]> =>
  fc.array(fc.oneof(input, createAnswers(own)), { maxLength: 6 }).map((parts) => [
    ...parts.flatMap((part, index) => "model" in part ? toMessages(part, index) : prompt(...part)),
    prompt("And?"),
  ]);

const tools: fc.Arbitrary<ToolSpec[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("look", "list.all", "ü", "n".repeat(90)),
    description: fc.constantFrom("Looks.", "", "d".repeat(2000)),
    parameters: fc.constantFrom<ToolSpec["parameters"]>(
      {},
      { type: "object", properties: { value: { type: "string" } } },
      { type: "object", properties: { value: { type: "string", pattern: "^(?!a).*(?<=b)$" } } },
      { anyOf: [{ type: "object", properties: { a: { const: 1 } } }] },
    ),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const options = fc.constantFrom<StreamOptions>({}, { toolChoice: "required" }, { cache: "long" });

for (const { name, model, createStreamFn, findProblems } of SUBJECTS) {
  Deno.test(`${name}: requests for random conversations of all providers break no rule`, async () => {
    await fc.assert(
      fc.asyncProperty(
        createConversations(model),
        tools,
        options,
        async (messages, tools, options) => {
          const { body } = await captureRequest((fetch) => createStreamFn({ fetch }), {
            model,
            context: { systemPrompt: "", messages, tools },
            options: { apiKey, ...options },
            signal: new AbortController().signal,
          });
          assertEquals(findProblems(body), []);
        },
      ),
      { numRuns: Deno.env.get("SWINK_PROVE") === "1" ? 1000 : 60, seed: 1 },
    );
  });
}
