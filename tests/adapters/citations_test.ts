import { assertEquals } from "@std/assert";
import { toCitation as toAnthropicCitation } from "../../adapters/anthropic/citations.ts";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { toCitation } from "../../adapters/bedrock/citations.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { Citation, ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { StreamFn, StreamOptions } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createReply, createToolResult, prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Reads the citations of the first text of a reply. */
async function readCitations(
  create: (fetch: typeof globalThis.fetch) => StreamFn,
  model: string,
  events: readonly object[],
): Promise<unknown> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const headers = { "content-type": "text/event-stream" };
  const stream = create(replayFetch({ status: 200, body, headers }))({
    model: modelSpec(model),
    context: { systemPrompt: "", messages: [], tools: [] },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  });
  for await (const event of stream) if (event.type === "text_end") return event.citations;
}

Deno.test("createAnthropic(): reads the citations of a text", async () => {
  const web = {
    type: "web_search_result_location",
    url: "https://deno.com",
    title: "Deno",
    encrypted_index: "ZW5j",
    cited_text: "Deno is a runtime",
  };
  const page = {
    type: "page_location",
    document_index: 1,
    document_title: "Paper",
    start_page_number: 2,
    end_page_number: 3,
    cited_text: "…",
  };
  const delta = (delta: object) => ({ type: "content_block_delta", index: 0, delta });
  const citations = await readCitations(
    (fetch) => createAnthropic({ fetch }),
    "anthropic/claude-sonnet-4-5",
    [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      delta({ type: "citations_delta", citation: web }),
      delta({ type: "text_delta", text: "A runtime." }),
      delta({ type: "citations_delta", citation: page }),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    ],
  );
  assertEquals(citations, [
    { type: "url", url: "https://deno.com", title: "Deno", text: "Deno is a runtime", data: web },
    {
      type: "document",
      documentIndex: 1,
      title: "Paper",
      text: "…",
      range: { unit: "pages", start: 2, end: 3 },
      data: page,
    },
  ]);
});

Deno.test("createBedrock(): Claude cites all documents of a request or none", async () => {
  const createDocument = (citations: boolean): ContentBlock => ({
    type: "document",
    mediaType: "application/pdf",
    source: { type: "base64", data: "AA==" },
    ...(citations && { citations }),
  });
  const model = modelSpec("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0");
  const send = (options: StreamOptions) =>
    captureRequest((fetch) => createBedrock({ fetch, region: "us-east-1" }), {
      model,
      context: {
        systemPrompt: "",
        messages: [prompt(createDocument(false), createDocument(true), "Read.")],
        tools: [],
      },
      options: { apiKey: "sk-test", ...options },
      signal: new AbortController().signal,
    });
  const cited = await send({});
  assertEquals(JSON.stringify(cited.body).match(/"citations":{"enabled":true}/g)?.length, 2);
  assertEquals(cited.warnings, []);
  const responseSchema = {
    type: "object",
    properties: {},
    required: [],
    additionalProperties: false,
  };
  const uncited = await send({ responseSchema });
  assertEquals(JSON.stringify(uncited.body).includes("citations"), false);
  assertEquals(uncited.warnings.map(({ code }) => code), ["citations_left_out"]);
});

Deno.test("toCitation(): converts every location of Anthropic", () => {
  const search = {
    type: "search_result_location",
    source: "https://deno.com",
    title: "Deno",
    cited_text: "A runtime",
    search_result_index: 0,
    start_block_index: 1,
    end_block_index: 2,
  };
  assertEquals(toAnthropicCitation(search), {
    type: "url",
    url: "https://deno.com",
    title: "Deno",
    text: "A runtime",
    data: search,
  });
  const range = (type: string, unit: string, fields: object) => {
    const location = { type, document_index: 0, document_title: null, cited_text: "", ...fields };
    const expected = { type: "document", documentIndex: 0, range: { unit, start: 3, end: 4 } };
    assertEquals(toAnthropicCitation(location), { ...expected, data: location } as Citation);
  };
  range("char_location", "characters", { start_char_index: 3, end_char_index: 4 });
  range("page_location", "pages", { start_page_number: 3, end_page_number: 4 });
  range("content_block_location", "blocks", { start_block_index: 3, end_block_index: 4 });
});

Deno.test("createOpenAI(): reads the annotations of both APIs", async () => {
  const annotation = { type: "url_citation", url: "https://deno.com", title: "Deno" };
  const content = [{ type: "output_text", text: "Deno.", annotations: [annotation] }];
  const expected = [{ type: "url", url: "https://deno.com", title: "Deno", data: annotation }];
  const responses = await readCitations(
    (fetch) => createOpenAI({ fetch, api: "responses" }),
    "openai/gpt-5.4",
    [
      { type: "response.output_text.delta", output_index: 0, delta: "Deno." },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", content } },
      { type: "response.completed", response: { status: "completed" } },
    ],
  );
  assertEquals(responses, expected);
  const nested = { type: "url_citation", url_citation: { url: "https://deno.com", title: "Deno" } };
  const chat = await readCitations(
    (fetch) => createOpenAI({ fetch, api: "chat" }),
    "openai/gpt-4o",
    [
      { choices: [{ index: 0, delta: { content: "Deno." } }] },
      { choices: [{ index: 0, delta: { annotations: [nested] }, finish_reason: "stop" }] },
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } },
    ],
  );
  assertEquals(chat, [{ ...expected[0], data: nested }]);
});

Deno.test("createGoogle(): reads the sources of a search once each", async () => {
  const chunk = { web: { uri: "https://deno.com", title: "Deno" } };
  const citations = await readCitations(
    (fetch) => createGoogle({ fetch }),
    "google/gemini-3.8-flash",
    [
      { candidates: [{ content: { parts: [{ text: "Deno." }] } }] },
      {
        candidates: [{
          finishReason: "STOP",
          groundingMetadata: { groundingChunks: [chunk, chunk] },
        }],
      },
    ],
  );
  assertEquals(citations, [
    { type: "url", url: "https://deno.com", title: "Deno", data: chunk },
  ]);
});

Deno.test("createGoogle(): joins the sources of all chunks and the pages that were read, and reports other pages", async () => {
  const web = { web: { uri: "https://deno.com", title: "Deno" } };
  const recited = { uri: "https://example.com/poem" };
  const page = (retrievedUrl: string, status: string) => ({
    retrievedUrl,
    urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${status}`,
  });
  const pages = [
    page("https://deno.com", "SUCCESS"),
    page("https://jsr.io", "SUCCESS"),
    page("https://paid.example", "PAYWALL"),
    page("", "ERROR"),
  ];
  const urlContextMetadata = { urlMetadata: pages };
  const body = [
    { content: { parts: [{ text: "Deno" }] }, urlContextMetadata },
    { content: { parts: [{ text: "." }] }, groundingMetadata: { groundingChunks: [web] } },
    { citationMetadata: { citations: [recited] }, urlContextMetadata, finishReason: "STOP" },
  ].map((candidate) => `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`).join("");
  const { content, warnings } = await readReply(
    createGoogle({ fetch: replayFetch(body) })({
      model: modelSpec("google/gemini-3.8-flash"),
      context: { systemPrompt: "", messages: [prompt("Read.")], tools: [] },
      options: { apiKey: "sk-test" },
      signal: new AbortController().signal,
    }),
  );
  assertEquals(content, [{
    type: "text",
    text: "Deno.",
    citations: [
      { type: "url", url: "https://deno.com", title: "Deno", data: web },
      { type: "url", url: "https://jsr.io", data: pages[1] },
      { type: "url", url: "https://example.com/poem", data: recited },
    ],
  }]);
  assertEquals(warnings.map(({ code, message }) => [code, message]), [
    ["page_not_read", "google could not read https://paid.example (paywall)"],
    ["page_not_read", "google could not read (no URL) (error)"],
  ]);
});

Deno.test("toCitation(): converts the locations of Bedrock", () => {
  const web = { title: "Deno", location: { web: { url: "https://deno.com" } } };
  assertEquals(toCitation(web), { type: "url", url: "https://deno.com", title: "Deno", data: web });
  const page = {
    sourceContent: [{ text: "a" }, { text: "b" }],
    location: { documentPage: { documentIndex: 0, start: 1, end: 2 } },
  };
  assertEquals(toCitation(page), {
    type: "document",
    documentIndex: 0,
    range: { unit: "pages", start: 1, end: 2 },
    text: "ab",
    data: page,
  });
});

Deno.test("createMistral(): reads references to documents and pages of tools", async () => {
  const reference = { type: "reference", reference_ids: [0, "a"] };
  const page = {
    type: "tool_reference",
    tool: "web_search",
    title: "Deno",
    url: "https://deno.com",
    description: "A runtime",
  };
  const thinking = { type: "thinking", thinking: [{ type: "text", text: "Hm." }, page] };
  const parts = [{ type: "text", text: "A runtime" }, reference, { type: "text", text: "." }];
  const citations = await readCitations(
    (fetch) => createMistral({ fetch }),
    "mistral/mistral-medium-latest",
    [
      { choices: [{ index: 0, delta: { content: [thinking] } }] },
      { choices: [{ index: 0, delta: { content: parts } }] },
      { choices: [{ index: 0, delta: { content: [page] }, finish_reason: "stop" }] },
    ],
  );
  const source = {
    type: "url",
    url: "https://deno.com",
    title: "Deno",
    text: "A runtime",
    data: page,
  };
  assertEquals(citations, [source, { type: "document", data: reference }, source]);
});

// Citations of earlier replies

const CLAUDE = modelSpec("anthropic/claude-sonnet-4-5");
const REPORT: ContentBlock = {
  type: "document",
  mediaType: "application/pdf",
  name: "Report",
  source: { type: "base64", data: "AAAA" },
  citations: true,
};

function createCitation(document_index: number, document_title: string | null): Citation {
  const range = { start_page_number: 1, end_page_number: 2 };
  const cited = { type: "page_location", cited_text: "42", document_index, document_title };
  return { type: "document", data: { ...cited, ...range, file_id: null } };
}

/** Returns the citations of the replies in the request for a conversation. */
async function findSentCitations(messages: readonly LlmMessage[]): Promise<unknown> {
  const { body } = await captureRequest((fetch) => createAnthropic({ fetch }), {
    model: CLAUDE,
    context: { systemPrompt: "", messages, tools: [] },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  });
  const sent = body["messages"];
  const list = Array.isArray(sent) ? sent : [];
  return list.filter(({ role }) => role === "assistant").map(({ content: [{ citations }] }) =>
    citations
  );
}

Deno.test("createAnthropic(): sends the citations of documents back without file_id", async () => {
  const citation = createCitation(0, "Report");
  const { file_id: _fileId, ...expected } = Object(citation.data);
  const answer = createReply(CLAUDE, [{ type: "text", text: "42", citations: [citation] }]);
  assertEquals(
    await findSentCitations([prompt("Read.", REPORT), answer, prompt("Why?")]),
    [[expected]],
  );
});

Deno.test("createAnthropic(): the index of a cited document counts those of tool results", async () => {
  const citation = createCitation(1, "Report");
  const call: ContentBlock = { type: "tool_call", id: "c1", name: "read", arguments: {} };
  const sent = await findSentCitations([
    prompt("Read.", { ...REPORT, name: "Notes" }),
    createReply(CLAUDE, [call]),
    createToolResult("c1", "read", [REPORT]),
    createReply(CLAUDE, [{ type: "text", text: "42", citations: [citation] }]),
    prompt("Why?"),
  ]);
  assertEquals(Array.isArray(sent) && sent[1]?.[0]?.document_title, "Report");
});

Deno.test("createAnthropic(): omits citations of documents that are no longer in the request or were not cited", async () => {
  const citations = [
    createCitation(0, "Report"),
    createCitation(1, null),
    createCitation(-1, null),
  ];
  const answer = createReply(CLAUDE, [{ type: "text", text: "42", citations }]);
  const { citations: _citations, ...plain } = REPORT;
  for (
    const blocks of [[], [{ ...REPORT, name: "Other" }], [plain]] satisfies ContentBlock[][]
  ) {
    assertEquals(
      await findSentCitations([prompt("Read.", ...blocks), answer, prompt("Why?")]),
      [undefined],
    );
  }
});

Deno.test("createAnthropic(): sends no citations of another model's reply", async () => {
  const citations = [createCitation(0, "Report")];
  const other = modelSpec("anthropic/claude-opus-4-8");
  const answer = createReply(other, [{ type: "text", text: "42", citations }]);
  assertEquals(
    await findSentCitations([prompt("Read.", REPORT), answer, prompt("Why?")]),
    [undefined],
  );
});
