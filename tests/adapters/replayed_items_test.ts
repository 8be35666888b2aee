import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { createReply, prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

const MODEL = modelSpec("openai/gpt-5.4:low");
const REASONING = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
const SEARCH = { id: "ws_1", type: "web_search_call", action: { type: "search", query: "Deno" } };
const TEXT: ContentBlock = { type: "text", text: "Found." };
const TEXT_ITEM = { type: "message", role: "assistant", content: "Found." };

function toBlock(item: JsonObject): ContentBlock {
  return { type: "extension", typeName: `openai.${item["type"]}`, data: item };
}

/** Sends a reply and returns its items in the request. */
async function sendReply(...content: readonly ContentBlock[]): Promise<unknown> {
  const { body } = await captureRequest((fetch) => createOpenAI({ fetch, api: "responses" }), {
    model: MODEL,
    context: {
      systemPrompt: "",
      messages: [prompt("Hi"), createReply(MODEL, content), prompt("And?")],
      tools: [],
    },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  });
  return Array.isArray(body["input"]) ? body["input"].slice(1, -1) : [];
}

Deno.test("responses: a call of a server tool is sent back with its status, which the API requires", async () => {
  for (const status of ["completed", "failed"]) {
    const call = { ...SEARCH, status };
    const sent = await sendReply(toBlock(REASONING), toBlock(call), TEXT);
    assertEquals(sent, [REASONING, call, TEXT_ITEM]);
  }
});

Deno.test("responses: reasoning is sent back without its status, which the API rejects", async () => {
  const sent = await sendReply(toBlock({ ...REASONING, status: "completed" }), TEXT);
  assertEquals(sent, [REASONING, TEXT_ITEM]);
  assertEquals(await sendReply(toBlock({ ...SEARCH, status: null }), TEXT), [SEARCH, TEXT_ITEM]);
});

Deno.test("responses: a call of a server tool that was cut off is not sent back, nor the reasoning before it", async () => {
  for (const status of ["in_progress", "searching", "interpreting", "incomplete"]) {
    const call = { id: "ws_1", type: "web_search_call", status };
    assertEquals(await sendReply(toBlock(REASONING), toBlock(call)), [], status);
  }
});

/** Items of server tools, each with the fields that the API requires. */
const ITEMS: readonly JsonObject[] = [
  { ...SEARCH, status: "completed" },
  { id: "fs_1", type: "file_search_call", status: "completed", queries: ["Deno"] },
  { id: "ci_1", type: "code_interpreter_call", status: "completed", code: "1", container_id: "c" },
  { id: "ig_1", type: "image_generation_call", status: "completed", result: "iVBORw0KGgo=" },
  { id: "mcpl_1", type: "mcp_list_tools", server_label: "docs", tools: [] },
  { id: "mcp_1", type: "mcp_call", name: "find", arguments: "{}", server_label: "docs" },
  { id: "cmp_1", type: "compaction", encrypted_content: "ZW5j" },
];

Deno.test("responses: items of every server tool are sent back, and those that need an output of their own are not", async () => {
  for (const item of ITEMS) {
    assertEquals(await sendReply(toBlock(item), TEXT), [item, TEXT_ITEM], `${item["type"]}`);
  }
  for (const type of ["computer_call", "mcp_approval_request", "local_shell_call"]) {
    const item = { id: "i_1", type, status: "completed" };
    assertEquals(await sendReply(toBlock(item), TEXT), [TEXT_ITEM], type);
  }
});
