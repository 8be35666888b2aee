import { assertEquals, assertStrictEquals } from "@std/assert";
import type { JsonObject } from "../json/json.ts";
import { filterExtraFields, listExtraTools } from "./extra_fields.ts";

const provider = "test";
const refuseAll = { provider, isAllowed: () => false };

Deno.test("filterExtraFields(): fields that give the model no tools stay, without a question", () => {
  const fields = {
    temperature: 1,
    reasoning: { effort: "low" },
    metadata: { user_id: "ada" },
    additionalModelRequestFields: { top_k: 5 },
  };
  assertStrictEquals(filterExtraFields(fields, refuseAll).fields, fields);
  assertEquals(listExtraTools(fields, provider), []);
  assertEquals(listExtraTools(undefined, provider), []);
});

const FIELDS_WITH_TOOLS: readonly JsonObject[] = [
  { tools: [{ type: "memory_20250818", name: "memory" }] },
  { tools: "all" },
  { tools: ["code"] },
  { mcp_servers: [{ type: "url", url: "https://mcp.example", name: "a" }] },
  { container: { skills: [] } },
  { plugins: [{ id: "web" }] },
  { web_search_options: {} },
  { search_parameters: { mode: "on" } },
  { toolConfig: { tools: [] } },
  { cachedContent: "cachedContents/a" },
  { prompt: { id: "pmpt_1" } },
  { conversation: "conv_1" },
  { previous_response_id: "resp_1" },
  { functions: [] },
  { field_of_tomorrow: true },
  { Tools: [] },
  { constructor: 1 },
];

Deno.test("filterExtraFields(): fields that may give the model tools are removed if they are refused", () => {
  for (const fields of FIELDS_WITH_TOOLS) {
    const names = Object.keys(fields);
    assertEquals(filterExtraFields({ ...fields, top_k: 5 }, refuseAll), {
      fields: { top_k: 5 },
      removed: names,
    });
  }
});

Deno.test("filterExtraFields(): each entry of tools is decided alone, also in the fields of a model", () => {
  const [memory, code] = [{ type: "memory" }, { type: "code" }];
  const filter = {
    provider,
    isAllowed: ({ definition }: { readonly definition: JsonObject }) => definition === memory,
  };
  const kept = { fields: { tools: [memory] }, removed: ["tools"] };
  assertEquals(filterExtraFields({ tools: [memory, code] }, filter), kept);
  assertEquals(
    filterExtraFields({ additionalModelRequestFields: { tools: [code, memory] } }, filter),
    {
      fields: { additionalModelRequestFields: kept.fields },
      removed: ["additionalModelRequestFields"],
    },
  );
});

Deno.test("listExtraTools(): names the tools of the provider that fields may give the model", () => {
  const memory = { type: "memory" };
  const fields = { tools: [memory, 5], mcp_servers: [], top_k: 5 };
  assertEquals(
    listExtraTools(fields, provider).map((tool) => [tool.type, tool.provider, tool.definition]),
    [
      ["provider_tool", provider, memory],
      ["provider_tool", provider, { tools: 5 }],
      ["provider_tool", provider, { mcp_servers: [] }],
    ],
  );
});
