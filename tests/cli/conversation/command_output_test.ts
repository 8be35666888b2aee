/**
 * Lists and errors of commands.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { scriptedReply } from "../fake_host.ts";
import { openTerminal } from "./live_terminal.ts";
import { type PlainConversationOptions, typeConversation } from "./plain_conversation.ts";

/** Types lines, and leaves. */
function type(
  typed: PlainConversationOptions["typed"],
  model: PlainConversationOptions["model"] = [],
) {
  return typeConversation({ model, typed: [...typed, "/quit"] });
}

Deno.test("#help: the text of a command is next to it, or below it in a narrow terminal", async () => {
  for (
    const [columns, rows] of [
      [100, /^\/thinking \[LEVEL\|show\|hide\] {13}Sets .*\n {40}\S/m],
      [60, /^\/thinking \[LEVEL\|show\|hide\]\n {2}Sets .*\n {2}\S/m],
    ] as const
  ) {
    await using terminal = await openTerminal({ columns, rows: 100 });
    await terminal.enter("#help");
    await terminal.waitFor(rows);
    await terminal.waitFor(">> text");
  }
});

Deno.test("/tools: shows one line for each tool", async () => {
  await using terminal = await openTerminal({ columns: 60, rows: 30 });
  await terminal.enter("/tools");
  await terminal.waitFor("task  ");
  const rows = terminal.text.split("\n").filter((row) => row.endsWith("…") && /^\w+ {2}/.test(row));
  assertEquals(rows.length, 7, terminal.text);
  assertEquals(new Set(rows.map((row) => row.search(/(?<= )\w/))).size, 1, terminal.text);
});

Deno.test("#info: a long value continues in its column", async () => {
  await using terminal = await openTerminal({ columns: 60, rows: 30 });
  await terminal.enter("#info");
  await terminal.waitFor("messages");
  assertMatch(terminal.text, /^tools {6}read_file, [^\n]+,\n {11}\w[^\n]+\bbash, task$/m);
});

Deno.test("commands: one without an argument does not run with one", async () => {
  await using conversation = await type(["/plan", "/undo 3", "/quit now", "/execute all of it"]);
  const { outputs } = conversation;
  for (const [index, name] of [[1, "/undo"], [2, "/quit"], [3, "/execute"]] as const) {
    assertStringIncludes(outputs[index] ?? "", `error: ${name} takes no argument`);
  }
});

Deno.test("commands: those that need the session state that it begins with the first prompt", async () => {
  await using conversation = await type(["#info", "/save x", "/rewind", "/tree", "/export a.md"]);
  const [info, ...others] = conversation.outputs;
  assertMatch(info ?? "", /^session {4}begins with the first prompt$/m);
  for (const output of others.slice(0, 4)) {
    assertEquals(output, "error: There is no session yet: it begins with the first prompt\n");
  }
});

Deno.test("/model: reports an unknown provider, a missing key and a typing error at once", async () => {
  await using conversation = await type([
    "/model antropic/x",
    "/model openai/gpt-x",
    "Greet me",
    "/model anthropic/claude-sonet-5-5",
    "/model next",
    "/model next",
    "/model ollama/any",
  ], [scriptedReply("Hello!")]);
  const { outputs } = conversation;
  assertMatch(outputs[0] ?? "", /^error: Unknown provider "antropic"\. Did you mean anthropic\?\n/);
  const advice = "set OPENAI_API_KEY, or enter #key openai\n";
  assertStringIncludes(outputs[1] ?? "", `warning: There is no key for openai: ${advice}`);
  assertStringIncludes(outputs[2] ?? "", `error: No API key for openai: ${advice}`);
  assertStringIncludes(
    outputs[3] ?? "",
    "claude-sonet-5-5 is not in the catalog. Did you mean anthropic/claude-sonnet-5-5?",
  );
  assertMatch(outputs[4] ?? "", /^model anthropic\/claude-sonnet-5-5 from now on\n$/);
  // The other default model has no key.
  assertEquals(outputs[5], "model anthropic/claude-sonnet-5-5\n");
  assertEquals(outputs[6], "model ollama/any from now on\n");
});
