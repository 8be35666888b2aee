import { assertEquals } from "@std/assert";
import { defineTool } from "../../../mod.ts";
import type { AskCause } from "../../../src/tools/mod.ts";
import { getPlainStyle } from "../../render/style.ts";
import { formatCallDetails } from "./call_details.ts";

const DIFF = "--- a\n+++ a\n@@ -1 +1 @@\n-1\n+2\n";

function format(
  name: string,
  args: Record<string, string | boolean>,
  cause: AskCause = "mode",
): string[] {
  const tool = defineTool({
    name,
    description: "",
    parameters: { type: "object" },
    execute: () => "",
  });
  const lines = formatCallDetails({
    toolCallId: "1",
    name,
    arguments: args,
    tool,
    changes: [{ path: "a", before: "1\n", after: "2\n", diff: DIFF }],
    context: undefined,
    signal: new AbortController().signal,
    risk: "write",
    cause,
    reason: "A reason.",
  }, {
    style: getPlainStyle(),
    position: { number: 1, total: 1 },
    columns: 80,
    diff: [],
  });
  return lines.map(({ text }) => text);
}

Deno.test("a question shows all arguments of a call that a diff does not show", () => {
  assertEquals(format("deploy", { path: "a", content: "2", host: "prod", force: true }), [
    "",
    "? deploy a",
    "  content: 2",
    "  host: prod",
    "  force: true",
  ]);
  assertEquals(format("write_file", { path: "a", content: "2" }), ["", "? write_file a"]);
  assertEquals(format("edit_file", { path: "a", edits: "", expected_hash: "f" }), [
    "",
    "? edit_file a",
  ]);
});

Deno.test("a question shows the name of an argument on one line", () => {
  assertEquals(format("deploy", { "a\n? list": true, "b\n  Allow? yes": "c\nd" }), [
    "",
    "? deploy",
    "  a<U+000A>? list: true",
    "  b<U+000A>  Allow? yes:",
    "c",
    "d",
  ]);
});

Deno.test("a question shows why a call is asked about, if it is not its class", () => {
  for (const cause of ["rule", "tool", "command"] as const) {
    assertEquals(format("deploy", {}, cause), ["", "? deploy", "  A reason."]);
  }
  for (const cause of ["class", "mode"] as const) {
    assertEquals(format("deploy", {}, cause), ["", "? deploy"]);
  }
});
