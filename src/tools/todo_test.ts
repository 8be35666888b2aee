import { assertEquals } from "@std/assert";
import { testToolContext } from "../testing/test_tool_context.ts";
import { todoTool } from "./todo.ts";

Deno.test("todo: returns the list with the status of each step", async () => {
  const items = [
    { text: "look", status: "done" },
    { text: "write", status: "in_progress" },
    { text: "test", status: "pending" },
  ];
  const context = testToolContext();
  assertEquals(await todoTool().execute({ items }, context), {
    content: [{ type: "text", text: "1 of 3 done\n[x] look\n[>] write\n[ ] test" }],
    details: { items },
  });
});
