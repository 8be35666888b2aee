import { assertEquals } from "@std/assert";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock, DocumentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { createReply, createToolResult, prompt, TOOLS } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

const PDF = createDocument("application/pdf");
const CITED_PDF = { ...PDF, citations: true };

function createDocument(mediaType: string): DocumentBlock {
  return { type: "document", mediaType, source: { type: "base64", data: btoa("a,b") } };
}

/** Sends documents of a prompt and those that a tool returned; resolves with the messages and the codes of warnings. */
async function sendDocuments(
  prompted: readonly ContentBlock[],
  returned: readonly ContentBlock[] = [],
): Promise<[JsonObject[], string[]]> {
  const model = modelSpec("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0");
  const call = { type: "tool_call", id: "call1", name: "read_file", arguments: {} } as const;
  const { body, warnings } = await captureRequest(
    (fetch) => createBedrock({ fetch, region: "us-east-1" }),
    {
      model,
      context: {
        systemPrompt: "",
        messages: [
          prompt(...prompted, "Read."),
          createReply(model, [call]),
          createToolResult("call1", "read_file", [{ type: "text", text: "Done." }, ...returned]),
        ],
        tools: TOOLS,
      },
      options: { apiKey: "sk-test" },
      signal: new AbortController().signal,
    },
  );
  return [body["messages"] as JsonObject[], warnings.map(({ code }) => code)];
}

Deno.test("createBedrock(): cites a text as text, since the API reads the bytes of one as PDF", async () => {
  const [[message], warnings] = await sendDocuments([CITED_PDF, createDocument("text/csv")]);
  assertEquals(warnings, []);
  const citations = { enabled: true };
  const source = { bytes: btoa("a,b") };
  assertEquals(message?.["content"], [
    { document: { format: "pdf", name: "document", source, citations } },
    { document: { format: "txt", name: "document (2)", source: { text: "a,b" }, citations } },
    { text: "Read." },
    { cachePoint: { type: "default" } },
  ]);
});

Deno.test("createBedrock(): cites no documents together with one that the API cannot cite", async () => {
  const [messages, warnings] = await sendDocuments([
    CITED_PDF,
    createDocument("application/msword"),
  ]);
  assertEquals(warnings, ["citations_left_out"]);
  assertEquals(JSON.stringify(messages).includes("citations"), false);
});

Deno.test("createBedrock(): sends the documents of a tool after its result in a request with citations", async () => {
  const [cited, warnings] = await sendDocuments([CITED_PDF], [PDF]);
  assertEquals(warnings, []);
  const [, , result, , attachments] = cited;
  assertEquals(result?.["content"], [
    { toolResult: { toolUseId: "call1", content: [{ text: "Done." }] } },
    { cachePoint: { type: "default" } },
  ]);
  assertEquals(JSON.stringify(attachments).includes('"citations":{"enabled":true}'), true);
  const [uncited] = await sendDocuments([PDF], [PDF]);
  assertEquals(JSON.stringify(uncited.at(-1)).includes('[{"text":"Done."},{"document":'), true);
});
