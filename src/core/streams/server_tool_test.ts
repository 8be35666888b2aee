import { assertEquals } from "@std/assert";
import { codeExecution, fileSearch, providerTool, webFetch, webSearch } from "./server_tool.ts";

Deno.test("webSearch(), webFetch(), codeExecution(), fileSearch() and providerTool() return their type and options", () => {
  assertEquals(
    [
      webSearch(),
      webSearch({ maxUses: 3 }),
      webFetch(),
      webFetch({ maxUses: 3 }),
      codeExecution(),
      fileSearch(["vs_1"], { maxResults: 5 }),
      providerTool("anthropic", { type: "bash" }),
    ],
    [
      { type: "web_search" },
      { type: "web_search", maxUses: 3 },
      { type: "web_fetch" },
      { type: "web_fetch", maxUses: 3 },
      { type: "code_execution" },
      { type: "file_search", stores: ["vs_1"], maxResults: 5 },
      { type: "provider_tool", provider: "anthropic", definition: { type: "bash" } },
    ],
  );
});
