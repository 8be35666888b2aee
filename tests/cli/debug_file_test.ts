/**
 * The log of `--debug-file`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const KEY = "canary-0123456789";

/** Runs `swink run` with a debug file; returns its lines. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  { env, ...options }: FakeHostOptions = {},
) {
  const host = createFakeHost({
    ...options,
    env: { ANTHROPIC_API_KEY: KEY, NO_COLOR: "1", HOME: home.path, ...env },
  });
  const file = `${home.path}/debug.jsonl`;
  const code = await main([
    ...["run", "--cwd", `${home.path}/p`, "--no-session", "--debug-file", file],
    ...args,
  ], host);
  const text = await Deno.readTextFile(file).catch(() => "");
  const lines = text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  return { code, messages: host.messages, text, lines };
}

Deno.test("swink run --debug-file: writes settings, requests, events and the end", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "A" });
  const { code, lines, text } = await run(home, ["Read it"], {
    model: [scriptedReply(scriptedCall("read_file", { path: "a.txt" })), scriptedReply("Done.")],
  });
  assertEquals(code, 0);
  const name = ({ type, event }: { type: string; event?: { type: string } }) => event?.type ?? type;
  assertEquals(lines.map(name).filter((type) => !type.startsWith("message_")), [
    ...["start", "agent_start", "turn_start", "model_call_start", "request", "response"],
    ...["response_end", "model_call_end", "tool_execution_start", "tool_execution_end", "turn_end"],
    ...["turn_start", "model_call_start", "request", "response", "response_end", "model_call_end"],
    ...["turn_end", "agent_end", "end"],
  ]);
  assertEquals(lines.map(name).includes("message_update"), false);
  const [start, ...others] = lines;
  assertEquals([start.permissionMode, start.net, start.ms], ["default", "off", 0]);
  assertEquals(others.at(-1).exitCode, 0);
  const request = lines.find(({ type }) => type === "request");
  assertEquals([request.id, request.method, request.url], [
    1,
    "POST",
    "https://api.anthropic.com/v1/messages",
  ]);
  assert(request.bytes > 1_000);
  assertEquals(text.includes(KEY), false);
  const { mode } = await Deno.stat(`${home.path}/debug.jsonl`);
  assertEquals((mode ?? 0) & 0o777, 0o600);
});

Deno.test("swink run --debug-file: appends, also when a run fails", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "A" });
  await run(home, ["Hello"], { model: [scriptedReply("Hi.")] });
  const { code, lines } = await run(home, ["Hello"], { env: { ANTHROPIC_API_KEY: "" } });
  assertEquals(code, 3);
  const ends = lines.filter(({ type }) => type === "end");
  assertEquals(ends.map(({ exitCode }) => exitCode), [0, 3]);
  assert(ends[1].error.length > 0);
});

Deno.test("swink run --debug-file: a file that cannot be opened is a usage error", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "A" });
  for (const file of [home.path, `${home.path}/missing/debug.jsonl`]) {
    const { code, messages } = await run(home, ["--debug-file", file, "Hello"]);
    assertEquals([code, messages.includes("--debug-file")], [2, true], messages);
  }
});
