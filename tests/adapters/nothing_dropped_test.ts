import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import {
  codeExecution,
  fileSearch,
  providerTool,
  webFetch,
  webSearch,
} from "../../src/core/streams/server_tool.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/streams/stream.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { createReply, createToolResult, prompt } from "./rich_conversation.ts";
import { captureRequest, type SentRequest } from "./sent_request.ts";

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** A value of every option that changes a request. `transport` has one value, and the key is sent in a header. */
const OPTIONS: Readonly<
  Record<Exclude<keyof StreamOptions, "transport" | "apiKey">, StreamOptions>
> = {
  temperature: { temperature: 0.25 },
  topP: { topP: 0.97 },
  stop: { stop: ["STOP"] },
  seed: { seed: 4711 },
  maxTokens: { maxTokens: 4711 },
  sessionId: { sessionId: "session-4711" },
  cache: { cache: "long" },
  toolChoice: { toolChoice: { name: "look" } },
  responseSchema: { responseSchema: SCHEMA },
  serverTools: { serverTools: [webSearch()] },
  serviceTier: { serviceTier: "flex" },
  verbosity: { verbosity: "low" },
  reasoningSummary: { reasoningSummary: "off" },
  extra: { extra: { field_4711: true } },
};

const TOOL: ToolSpec = {
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: {} },
};

/** Providers without an own cache id: sessions are only for caching, which they do by themselves. */
const WITHOUT_SESSIONS = ["anthropic", "ollama", "google", "azure", "bedrock"];

Deno.test("adapters: every option is in the request or in a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    const baseline = await send(subject, {});
    for (const [option, options] of Object.entries(OPTIONS)) {
      if (option === "sessionId" && WITHOUT_SESSIONS.includes(subject.name)) continue;
      assertNoticed(`${subject.name}: ${option}`, await send(subject, { options }), baseline);
    }
  }
});

Deno.test("adapters: every server tool and each of its options is in the request or in a warning", async () => {
  const tools = [
    webSearch({ maxUses: 2 }),
    webSearch({ allowedDomains: ["a.example"] }),
    webSearch({ blockedDomains: ["b.example"] }),
    webSearch({ userLocation: { country: "CH" } }),
    webFetch({ maxUses: 2, allowedDomains: ["a.example"] }),
    codeExecution(),
    codeExecution({ fileIds: ["file_1"] }),
    fileSearch(["store_1"], { maxResults: 3 }),
    providerTool("openai", { type: "image_generation" }),
  ];
  for (const subject of NINE_PROVIDERS) {
    const baseline = await send(subject, { tools: [] });
    for (const tool of tools) {
      const sent = await send(subject, { tools: [], options: { serverTools: [tool] } });
      assertNoticed(`${subject.name}: ${JSON.stringify(tool)}`, sent, baseline);
    }
  }
});

Deno.test("adapters: each option of a server tool that the provider has changes the request or gives a warning", async () => {
  const options = [
    [webSearch(), webSearch({ maxUses: 2 })],
    [webSearch(), webSearch({ allowedDomains: ["a.example"] })],
    [webSearch(), webSearch({ blockedDomains: ["b.example"] })],
    [webSearch(), webSearch({ userLocation: { country: "CH" } })],
    [codeExecution(), codeExecution({ fileIds: ["file_1"] })],
    [fileSearch(["store_1"]), fileSearch(["store_1"], { maxResults: 3 })],
  ] as const;
  for (const subject of NINE_PROVIDERS) {
    for (const [plain, tool] of options) {
      const baseline = await send(subject, { tools: [], options: { serverTools: [plain] } });
      const isSupported = baseline.warnings.every(({ code }) => code !== "server_tools_left_out");
      const sent = await send(subject, { tools: [], options: { serverTools: [tool] } });
      if (isSupported) assertNoticed(`${subject.name}: ${JSON.stringify(tool)}`, sent, baseline);
    }
  }
});

const MEDIA: readonly ContentBlock[] = [
  { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } },
  { type: "image", source: { type: "base64", mediaType: "image/jpg", data: "AAAA" } },
  { type: "image", source: { type: "base64", mediaType: "image/bmp", data: "AAAA" } },
  { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
  { type: "image", source: { type: "url", url: "data:image/png;base64,AAAA" } },
  { type: "image", source: { type: "provider_file", provider: "openai", id: "file_4711" } },
  { type: "document", mediaType: "application/pdf", source: { type: "base64", data: "AAAA" } },
  {
    type: "document",
    mediaType: "application/pdf",
    source: { type: "url", url: "https://example.com/a.pdf" },
  },
  {
    type: "document",
    mediaType: "application/pdf",
    source: { type: "provider_file", provider: "google", id: "files/4711" },
  },
  {
    type: "document",
    mediaType: "text/markdown",
    name: "notes",
    source: { type: "base64", data: btoa("# Notes") },
  },
  { type: "audio", mediaType: "audio/wav", source: { type: "base64", data: "AAAA" } },
  {
    type: "audio",
    mediaType: "audio/mp3",
    source: { type: "url", url: "https://example.com/a.mp3" },
  },
];

const OTHERS: readonly ContentBlock[] = [
  { type: "text", text: "4711" },
  { type: "thinking", thinking: "4711" },
  { type: "extension", typeName: "app.note", data: { note: 4711 } },
  { type: "tool_call", id: "call_9", name: "look", arguments: {} },
];

Deno.test("adapters: every block of a prompt or a tool result is in the request or in a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    for (const block of [...MEDIA, ...OTHERS]) {
      const compare = async (
        place: (content: readonly ContentBlock[]) => readonly LlmMessage[],
      ): Promise<readonly [SentRequest, SentRequest]> => [
        await send(subject, { messages: place([block]) }),
        await send(subject, { messages: place([]) }),
      ];
      const kind = JSON.stringify(block);
      const inPrompt = (content: readonly ContentBlock[]) => [prompt("Hi"), prompt(...content)];
      assertNoticed(`${subject.name}: ${kind} in a prompt`, ...await compare(inPrompt));
      for (const isError of [false, true]) {
        const inResult = (content: readonly ContentBlock[]) => [
          prompt("Hi"),
          createReply(subject.model, [
            { type: "tool_call", id: "call_1", name: "look", arguments: {} },
          ]),
          createToolResult(
            "call_1",
            "look",
            [{ type: "text", text: "Seen." }, ...content],
            isError,
          ),
        ];
        const place = isError ? "an error result" : "a result";
        assertNoticed(`${subject.name}: ${kind} in ${place}`, ...await compare(inResult));
      }
    }
  }
});

Deno.test("adapters: an image, a document or an audio clip in a reply is omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    if (subject.name === "proxy") continue; // sends all messages as they are
    for (const block of MEDIA) {
      const messages = [prompt("Hi"), createReply(subject.model, [block]), prompt("And?")];
      const { warnings } = await send(subject, { messages });
      assertEquals(
        warnings.filter(({ code }) => code === "content_left_out").length,
        1,
        `${subject.name}: ${block.type}`,
      );
    }
  }
});

Deno.test("adapters: a block of an unknown type in a prompt is omitted with a warning", async () => {
  // As users of other libraries write it.
  const block = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
  for (const subject of NINE_PROVIDERS) {
    if (subject.name === "proxy") continue; // sends all messages as they are
    const messages = [prompt("Hi"), prompt(block as unknown as ContentBlock)];
    const { warnings } = await send(subject, { messages });
    const omitted = warnings.filter(({ code }) => code === "content_left_out");
    assertEquals(
      omitted.map(({ message }) => message),
      ["Prompts and tool results have no image_url blocks: 1 omitted"],
      subject.name,
    );
  }
});

Deno.test("adapters: a block of an unknown type in a reply is omitted with a warning, and the rest of the reply is sent", async () => {
  const unknown: unknown = { type: "hologram", data: "4711" };
  const call: ContentBlock = { type: "tool_call", id: "call_1", name: TOOL.name, arguments: {} };
  const text: ContentBlock = { type: "text", text: "Hello" };
  const result = createToolResult(call.id, TOOL.name, [text]);
  for (const subject of NINE_PROVIDERS) {
    const createMessages = (...others: readonly unknown[]) => [
      prompt("Hi"),
      createReply(subject.model, [...others as ContentBlock[], text, call]),
      result,
      ...others.length > 0 ? [createReply(subject.model, others as ContentBlock[])] : [],
      prompt("And?"),
    ];
    const { body, warnings } = await send(subject, { messages: createMessages(unknown) });
    if (subject.name === "proxy") continue; // sends all messages as they are
    assertEquals(
      warnings.filter(({ code }) => code === "content_left_out").map(({ message }) => message),
      ["Replies in requests have no hologram blocks: 2 omitted"],
      subject.name,
    );
    assertEquals(body, (await send(subject, { messages: createMessages() })).body, subject.name);
  }
});

interface SentParts {
  readonly options?: StreamOptions;
  readonly messages?: readonly LlmMessage[];
  readonly tools?: readonly ToolSpec[];
}

async function send(
  { createStreamFn, model, findProblems }: ProviderSubject,
  { options = {}, messages = [prompt("Hi")], tools = [TOOL] }: SentParts,
): Promise<SentRequest> {
  const request: StreamRequest = {
    model,
    context: { systemPrompt: "", messages, tools },
    options,
    signal: new AbortController().signal,
  };
  const sent = await captureRequest((fetch) => createStreamFn({ fetch }), request);
  assertEquals(findProblems(sent.body), [], JSON.stringify(sent.body));
  return sent;
}

/** Asserts that a request differs from the one without an option or a block, or has another warning. */
function assertNoticed(subject: string, sent: SentRequest, baseline: SentRequest): void {
  const isInRequest = toText(sent.body) !== toText(baseline.body) ||
    toText(Object.fromEntries(sent.headers)) !== toText(Object.fromEntries(baseline.headers));
  const known = new Set(baseline.warnings.map(({ message }) => message));
  const isReported = sent.warnings.some(({ message }) => !known.has(message));
  assert(isInRequest || isReported, `${subject} is neither in the request nor in a warning`);
}

function toText(value: JsonObject): string {
  return JSON.stringify(value);
}

/** Data of an image as it is copied from files, web pages and tokens, and the data that is sent. */
const IMAGE_DATA: readonly (readonly [string, string | undefined])[] = [
  ["iVBO\r\nRw0K\n", "iVBORw0K"],
  ["data:image/png;base64,iVBORw0K", "iVBORw0K"],
  ["__--", "//++"],
  ["iVBORw0", "iVBORw0="],
  ["iVBORw=", "iVBORw=="],
  ["iVBOR", undefined],
  ["", undefined],
  ["not base64!", undefined],
];

Deno.test("adapters: the data of an image is sent as plain base64, or omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS.filter(({ name }) => name !== "proxy")) {
    for (const [data, expected] of IMAGE_DATA) {
      const source = { type: "base64", mediaType: "image/png", data } as const;
      const { body, warnings } = await send(subject, {
        messages: [prompt("Look.", { type: "image", source })],
      });
      const label = `${subject.name}: ${data}`;
      const isOmitted = warnings.some(({ message }) =>
        message === "The base64 data of the images is empty or invalid: 1 omitted"
      );
      assertEquals(isOmitted, expected === undefined, label);
      const text = JSON.stringify(body);
      const isSent = [`"${expected}"`, `"data:image/png;base64,${expected}"`]
        .some((sent) => text.includes(sent));
      assertEquals(isSent, expected !== undefined, label);
    }
  }
});

/** Media of callers without types. */
const WITHOUT_SOURCE: readonly object[] = [
  { type: "image" },
  { type: "image", source: null },
  { type: "image", source: "https://example.com/a.png" },
  { type: "image", source: { type: "base64", data: "AAAA" } },
  { type: "image", source: { type: "base64", mediaType: "image/png" } },
  { type: "image", source: { type: "url" } },
  { type: "document", mediaType: "application/pdf" },
  { type: "document", source: { type: "base64", data: "AAAA" } },
  { type: "audio", mediaType: "audio/wav", source: {} },
];

Deno.test("adapters: an image, a document or an audio clip without a valid source is omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS.filter(({ name }) => name !== "proxy")) {
    for (const block of WITHOUT_SOURCE) {
      const { warnings, body } = await send(subject, {
        messages: [prompt("Look.", block as ContentBlock)],
      });
      const label = `${subject.name}: ${JSON.stringify(block)}`;
      const isOmitted = warnings.some(({ message }) =>
        /^The \w+ have no valid source: 1 omitted$/.test(message)
      );
      assert(isOmitted, label);
      assert(JSON.stringify(body).includes("that this model cannot"), label);
    }
  }
});

/** Providers that have service tiers with other prices, and whose costs are not reported by the server. */
const WITH_TIERS = ["openai", "openai responses", "google", "bedrock"];

Deno.test("adapters: a service tier with other prices is reported, for models with prices", async () => {
  for (const subject of NINE_PROVIDERS.filter(({ name }) => name !== "proxy")) {
    const countWarnings = async (options: StreamOptions, model = subject.model) => {
      const { warnings } = await send({ ...subject, model }, { options });
      return warnings.filter(({ code }) => code === "tier_price_unknown").length;
    };
    for (const serviceTier of ["flex", "priority"] as const) {
      const expected = WITH_TIERS.includes(subject.name) ? 1 : 0;
      assertEquals(await countWarnings({ serviceTier }), expected, subject.name);
      const unknown = { ...subject.model, modelId: "unknown-model" };
      assertEquals(await countWarnings({ serviceTier }, unknown), 0, subject.name);
    }
    for (const options of [{}, { serviceTier: "auto" }, { serviceTier: "default" }] as const) {
      assertEquals(await countWarnings(options), 0, subject.name);
    }
  }
});
