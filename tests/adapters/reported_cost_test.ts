import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { createXai } from "../../adapters/xai/mod.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** Reads the cost in the terminal event of a reply with the given usage. */
async function readCost(
  create: (fetch: typeof globalThis.fetch) => StreamFn,
  { name, usage }: { readonly name: string; readonly usage: object },
): Promise<number | null | undefined> {
  const response = { id: "r", status: "completed", output: [], usage };
  const body = `data: ${JSON.stringify({ type: "response.completed", response })}\n\n`;
  const headers = { "content-type": "text/event-stream" };
  const streamFn = create(() => Promise.resolve(new Response(body, { headers })));
  const { provider, modelId } = modelSpec(name);
  for await (const event of streamFn(createMinimalRequest(provider, modelId))) {
    if (event.type === "done") return event.cost?.total;
  }
  return undefined;
}

Deno.test("responses: the cost that xAI and OpenRouter report is that of the reply", async () => {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const xai = (fetch: typeof globalThis.fetch) => createXai({ apiKey: "k", fetch });
  const name = "xai/grok-4.7";
  assertEquals(await readCost(xai, { name, usage }), undefined);
  const ticks = { ...usage, cost_in_usd_ticks: 12_500_000_000 };
  assertEquals(await readCost(xai, { name, usage: ticks }), 1.25);
  const openRouter = (fetch: typeof globalThis.fetch) =>
    createOpenAI({
      apiKey: "k",
      baseUrl: "https://openrouter.ai/api/v1",
      api: "responses",
      fetch,
    });
  const reported = { ...usage, cost: 0.5 };
  assertEquals(await readCost(openRouter, { name: "openrouter/m", usage: reported }), 0.5);
});

Deno.test("openrouter: the cost of a call with a key of one's own includes that of the provider", async () => {
  const name = "openrouter/m";
  const details = { upstream_inference_cost: 0.25 };
  const cases: readonly (readonly [object, number | null | undefined])[] = [
    [{ cost: 0, is_byok: true, cost_details: details }, 0.25],
    [{ cost: 0.5, is_byok: true, cost_details: details }, 0.75],
    // The account is charged for these; the cost of the provider is part of the charge.
    [{ cost: 0.25, is_byok: false, cost_details: details }, 0.25],
    [{ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: null } }, null],
    [{ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: -1 } }, null],
    [{ cost: 0, is_byok: true }, null],
    [{ is_byok: true, cost_details: details }, undefined],
  ];
  for (const [counts, total] of cases) {
    for (const api of ["chat", "responses"] as const) {
      const create = (fetch: typeof globalThis.fetch) =>
        createOpenAI({ apiKey: "k", baseUrl: "https://openrouter.ai/api/v1", api, fetch });
      const cost = api === "chat"
        ? await readChatCost(create, counts)
        : await readCost(create, { name, usage: { input_tokens: 10, ...counts } });
      assertEquals(cost, total, `${api}: ${JSON.stringify(counts)}`);
    }
  }
});

/** Reads the cost in the terminal event of a chat completion with the given usage. */
async function readChatCost(
  create: (fetch: typeof globalThis.fetch) => StreamFn,
  counts: object,
): Promise<number | null | undefined> {
  const chunks = [
    { choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, ...counts } },
  ];
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const headers = { "content-type": "text/event-stream" };
  const streamFn = create(() =>
    Promise.resolve(new Response(`${body}data: [DONE]\n\n`, { headers }))
  );
  for await (const event of streamFn(createMinimalRequest("openrouter", "m"))) {
    if (event.type === "done") return event.cost?.total;
  }
  return undefined;
}
