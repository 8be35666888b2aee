import { assertEquals } from "@std/assert";
import { todoTool } from "./todo.ts";

Deno.test("todo: returns the list with the status of each step", async () => {
  const items = [
    { text: "look", status: "done" },
    { text: "write", status: "in_progress" },
    { text: "test", status: "pending" },
  ];
  const context = {
    toolCallId: "1",
    idempotencyKey: "1",
    signal: new AbortController().signal,
    onUpdate: () => {},
  };
  assertEquals(await todoTool().execute({ items }, context), {
    content: [{ type: "text", text: "1 of 3 done\n[x] look\n[>] write\n[ ] test" }],
    details: { items },
  });
});
