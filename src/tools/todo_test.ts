import { assertEquals } from "@std/assert";
import { todoTool } from "./todo.ts";

Deno.test("a list of steps is told back with how far each is", async () => {
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
