import { assertEquals } from "@std/assert";
import { userMessage } from "../../../mod.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../../src/testing/mod.ts";
import { listCalls } from "./list_calls.ts";

Deno.test("listCalls(): joins calls and results in their order, also when ids are used again", () => {
  const read = (path: string, id: string) => toolCall("read", { path }, { id });
  const result = (id: string, text: string) => toolResultMessage({ id, name: "read" }, text);
  const calls = listCalls([
    userMessage("Read"),
    assistantMessage([read("a", "1"), read("b", "2")]),
    result("2", "B"),
    result("1", "A"),
    assistantMessage([read("c", "1")]),
    result("1", "C"),
    result("unknown", "D"),
    assistantMessage([read("d", "1")]),
  ]);
  const shown = Array.from(calls.values(), ({ number, arguments: { path }, end }) => [
    number,
    path,
    end?.result.content[0]?.type === "text" ? end.result.content[0].text : undefined,
  ]);
  assertEquals(shown, [[1, "a", "A"], [2, "b", "B"], [3, "c", "C"], [4, "d", undefined]]);
});
