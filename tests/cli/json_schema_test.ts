/**
 * `swink run --json-schema`.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const SCHEMA = {
  type: "object",
  properties: { count: { type: "integer" } },
  required: ["count"],
  additionalProperties: false,
};

/** Runs a prompt whose answer must match a schema. */
async function run(options: FakeHostOptions, ...args: string[]) {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    "schema.json": JSON.stringify(SCHEMA),
    "broken.json": "{",
    "list.json": "[]",
  });
  const host = createFakeHost({
    ...options,
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path, NO_COLOR: "1" },
  });
  const words = args.map((arg) => arg.replace("HOME", home.path));
  const cwd = `${home.path}/p`;
  const code = await main(
    ["run", "-m", "anthropic/claude-x", "--cwd", cwd, ...words, "Count"],
    host,
  );
  return {
    code,
    output: host.output,
    messages: host.messages.replaceAll(home.path, "HOME"),
    requests: host.requests.length,
  };
}

/** A call of the tool that the model gets for its answer. */
function answer(value: Record<string, number | string>) {
  return scriptedReply("Here.", scriptedCall("structured_output", value));
}

Deno.test("swink run --json-schema: prints the answer as JSON", async () => {
  const { code, output } = await run(
    { model: [answer({ count: 3 })] },
    "--json-schema",
    "HOME/schema.json",
  );
  assertEquals([code, JSON.parse(output)], [0, { count: 3 }]);
  const inline = await run(
    { model: [answer({ count: 3 })] },
    "--json-schema",
    JSON.stringify(SCHEMA),
  );
  assertEquals(inline.output, output);
});

Deno.test("swink run --json-schema: on a terminal only the answer is printed", async () => {
  const terminals = ["output", "messages"] as const;
  const { output } = await run(
    { model: [answer({ count: 3 })], terminals },
    "--json-schema",
    "HOME/schema.json",
  );
  assertEquals(JSON.parse(output), { count: 3 });
});

Deno.test("swink run --json-schema: the JSON formats have it as structuredOutput", async () => {
  for (const format of ["json", "stream-json"]) {
    const model = [answer({ count: 3 })];
    const { output } = await run({ model }, "--json-schema", "HOME/schema.json", "-o", format);
    const result = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
    assertEquals([result.type, result.structuredOutput], ["result", { count: 3 }]);
    assertEquals(JSON.parse(result.text), { count: 3 });
  }
});

Deno.test("swink run --json-schema: an invalid answer is requested again, then the run fails", async () => {
  const wrong = answer({ count: "three" });
  const repaired = await run(
    { model: [wrong, answer({ count: 3 })] },
    "--json-schema",
    "HOME/schema.json",
  );
  assertEquals([repaired.code, repaired.requests], [0, 2]);
  const failed = await run(
    { model: [wrong, wrong, wrong, wrong] },
    "--json-schema",
    "HOME/schema.json",
    "-ojson",
  );
  assertEquals([failed.code, JSON.parse(failed.output).error.code], [
    1,
    "structured_output_failed",
  ]);
});

Deno.test("swink run --json-schema: a limit of turns before the answer ends the run as without a schema", async () => {
  const { code, output, messages } = await run(
    { model: [scriptedReply(scriptedCall("list_directory", { path: "." }))] },
    "--json-schema",
    "HOME/schema.json",
    "--max-turns",
    "1",
    "-ojson",
  );
  const { exitCode, stoppedBy, text } = JSON.parse(output);
  assertEquals([code, exitCode, stoppedBy.policy, text], [5, 5, "max_turns", ""]);
  assertStringIncludes(messages, "stopped: ");
});

Deno.test("swink run --json-schema: a text that is no valid answer is neither printed nor written to the file", async () => {
  await using directory = await createTemporaryDirectory({ "last.txt": "earlier\n" });
  const file = `${directory.path}/last.txt`;
  const text = scriptedReply('{"count":"three"}');
  const { code, output, messages } = await run(
    { model: [text, text, text, text] },
    "--json-schema",
    "HOME/schema.json",
    "--output-last-message",
    file,
  );
  assertEquals([code, output, directory.read("last.txt")], [1, "", "\n"]);
  assertStringIncludes(messages, "No valid answer after 4 attempts");
});

Deno.test("swink run --json-schema: warns about keywords that no answer is checked with", async () => {
  const schema = {
    type: "object",
    properties: { count: { type: "integer" }, unit: { type: "string", pattern: "(" } },
  };
  const { code, messages } = await run(
    { model: [answer({ count: 3, unit: "m" })] },
    "--json-schema",
    JSON.stringify(schema),
  );
  assertEquals(code, 0);
  assertStringIncludes(
    messages,
    "warning: --json-schema: a part of the schema is not checked: /properties/unit/pattern cannot be checked: ",
  );
  const complete = await run(
    { model: [answer({ count: 3 })] },
    "--json-schema",
    "HOME/schema.json",
  );
  assert(!complete.messages.includes("not checked"), complete.messages);
});

Deno.test("swink run --json-schema: rejects what is no schema", async () => {
  for (const value of ["HOME/none.json", "HOME/broken.json", "HOME/list.json", "{"]) {
    const { code, messages, requests } = await run({}, "--json-schema", value);
    assertEquals([code, requests], [2, 0], value);
    assertStringIncludes(messages, "for --json-schema: ");
  }
  const { code, messages, requests } = await run({}, "--json-schema", '{"type":"nothing"}');
  assertEquals([code, requests], [2, 0], messages);
  assertStringIncludes(messages, "swink: --json-schema: ");
});
