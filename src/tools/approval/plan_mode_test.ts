import { assertEquals } from "@std/assert";
import { defineTool } from "../../core/tools/tool.ts";
import { codingTools } from "../coding_tools.ts";
import { planMode } from "./plan_mode.ts";

Deno.test("planMode(): keeps no coding tool that writes files or runs commands [AC-26]", () => {
  assertEquals(planMode(codingTools()).map(({ name }) => name), [
    "read_file",
    "list_directory",
    "search_files",
  ]);
});

Deno.test("planMode(): omits a tool that does not set readOnly [AC-26]", () => {
  const createTool = (name: string, options: { readonly readOnly?: boolean }) =>
    defineTool({
      name,
      description: "",
      parameters: { type: "object" },
      execute: () => "",
      ...options,
    });
  const tools = [
    createTool("reads", { readOnly: true }),
    createTool("writes", { readOnly: false }),
    createTool("unknown", {}),
  ];
  assertEquals(planMode(tools).map(({ name }) => name), ["reads"]);
});
