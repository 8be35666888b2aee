import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import type { AgentEvent } from "../../mod.ts";
import { checkEvents } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import {
  createFakeHost,
  FAKE_TIME,
  type FakeHostOptions,
  scriptedCall,
  scriptedReply,
} from "./fake_host.ts";
import { assertOutput } from "./stream_schema.ts";
import { createTemporaryDirectory, runGit } from "./temporary_directory.ts";

const WRITE_REPLY = scriptedReply(
  "I'll write it.",
  scriptedCall("write_file", { path: "a.txt", content: "one\n" }),
);
const DONE_REPLY = scriptedReply("Done.");

/** Creates a clock whose times are not whole milliseconds. */
function createFineClock(): () => number {
  let time = FAKE_TIME;
  return () => time += 0.3;
}

async function runSession(options: FakeHostOptions, ...args: string[]) {
  await using directory = await createTemporaryDirectory();
  const host = createFakeHost(options);
  const code = await main(["run", "--cwd", directory.path, "--approve-all", ...args, "Work"], host);
  const lines = host.output.split("\n");
  assertEquals(lines.pop(), "", "the last line ends with a line feed");
  const values = lines.map((line) => JSON.parse(line));
  if (args.includes("stream-json")) await assertOutput(values);
  return { code, host, cwd: directory.path, values };
}

Deno.test("json: writes one object with the result, the text and the exit code", async () => {
  const { code, values, host } = await runSession(
    { model: [WRITE_REPLY, DONE_REPLY], now: createFineClock() },
    "-o",
    "json",
  );
  assertEquals({ code, messages: host.messages }, { code: 0, messages: "" });
  assertEquals(values.length, 1);
  const { messages, durationMs, usage, cost, runId, ...result } = values[0];
  assertEquals(typeof runId, "string");
  assertEquals(result, {
    type: "result",
    schemaVersion: 1,
    sessionId: null,
    model: { provider: "anthropic", modelId: "claude-sonnet-5-5", thinkingLevel: "off" },
    exitCode: 0,
    text: "Done.",
    stopReason: "stop",
    turns: 2,
  });
  assertEquals(messages.map(({ role }: { role: string }) => role), [
    "user",
    "assistant",
    "tool_result",
    "assistant",
  ]);
  assertEquals([usage.input, usage.output, cost.total], [200, 40, 0.0008]);
  assert(Number.isInteger(durationMs));
});

Deno.test("stream-json: writes init, every event of the library and the result", async () => {
  const { values, cwd } = await runSession(
    { model: [WRITE_REPLY, DONE_REPLY] },
    "-o",
    "stream-json",
    "--sandbox",
    "off",
  );
  const [init, ...events] = values;
  const result = events.pop();
  const { tools, version, ...properties } = init;
  assertEquals(properties, {
    type: "init",
    schemaVersion: 1,
    cwd,
    model: { provider: "anthropic", modelId: "claude-sonnet-5-5", thinkingLevel: "off" },
    approvalMode: "bypassed",
    isInteractive: false,
    net: "off",
    sandbox: { status: "off", mechanisms: [] },
    sessionId: null,
    project: { root: cwd, loaded: [], ignored: [] },
  });
  assertEquals([typeof version, tools.includes("bash")], ["string", true]);
  checkEvents(events);
  assertEquals(events.map(({ seq }: AgentEvent) => seq), events.map((_, index) => index + 1));
  assertEquals([events[0]?.type, events.at(-1)?.type], ["agent_start", "agent_end"]);
  assertEquals([result.type, result.exitCode, result.text, result.turns], [
    "result",
    0,
    "Done.",
    2,
  ]);
  const deltas = events.filter(({ type }) => type === "message_update");
  const sizes = deltas.map((event) => JSON.stringify(event).length - event.delta.delta?.length);
  assert(Math.max(...sizes.filter((size) => !Number.isNaN(size))) < 110, `${sizes}`);
  assert(!("messages" in result) && !("seq" in result));
  assertEquals(result.runId, events[0]?.runId);
});

Deno.test("json: an unknown cost is null", async () => {
  const { values } = await runSession(
    { model: [DONE_REPLY] },
    "-m",
    "anthropic/claude-unknown",
    "-ojson",
  );
  assertEquals(values[0].cost.total, null);
});

Deno.test("json, stream-json: the result contains the error of the run", async () => {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({
    type: "error",
    error: { type: "authentication_error", message: "no" },
  });
  const rejection = { status: 401, headers, body };
  for (const format of ["json", "stream-json"]) {
    const { code, values, host } = await runSession({ model: [rejection] }, "-o", format);
    const { exitCode, stopReason, error } = values.at(-1);
    assertEquals([code, exitCode, stopReason], [3, 3, "error"]);
    assertEquals([error.code, error.status, error.retryable], ["auth_error", 401, false]);
    assertStringIncludes(host.messages, "swink: anthropic answered 401: no");
  }
});

Deno.test("json: the result contains refused tools and the policy that stopped the run", async () => {
  await using directory = await createTemporaryDirectory();
  const args = ["run", "--cwd", directory.path, "-o", "json", "Work"];
  const refusing = createFakeHost({ model: [WRITE_REPLY, DONE_REPLY] });
  assertEquals(await main(args, refusing), 6);
  assertEquals(JSON.parse(refusing.output).refused, ["write_file"]);
  const limited = createFakeHost({ model: [WRITE_REPLY, WRITE_REPLY] });
  assertEquals(await main(["run", "--max-turns", "1", ...args.slice(1)], limited), 5);
  assertEquals(JSON.parse(limited.output).stoppedBy.policy, "max_turns");
});

Deno.test("json: escapes control characters in the text of the model", async () => {
  const { host, values } = await runSession(
    { model: [scriptedReply("a\u009bb\x7fc\u2028d\x1b[2J\n")] },
    "-o",
    "json",
  );
  // deno-lint-ignore no-control-regex -- control characters must be absent
  assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(host.output));
  assertEquals(values[0].messages[1].content[0].text, "a\u009bb\x7fc\u2028d\x1b[2J\n");
});

Deno.test("json, stream-json: --patch - adds the patch to the result", async () => {
  await using target = await createTemporaryDirectory();
  await runGit(target.path, "init", "-q");
  for (const format of ["json", "stream-json"]) {
    const { values } = await runSession(
      { model: [WRITE_REPLY, DONE_REPLY] },
      "-o",
      format,
      "--patch",
      "-",
    );
    target.write("fix.patch", values.at(-1).patch);
    await runGit(target.path, "apply", "--check", "fix.patch");
  }
});

Deno.test("stream-json: ends with 141 and without messages when the reader closes the output", async () => {
  await using directory = await createTemporaryDirectory();
  const host = createFakeHost({ model: [createHangingResponse()] });
  const running = main(["run", "--cwd", directory.path, "-o", "stream-json", "Work"], host);
  await waitUntil(() => host.output.includes("message_update"));
  host.closeOutput();
  assertEquals(await running, 141);
  assertEquals(host.messages, "");
});

/** Creates a response that starts and never ends. */
function createHangingResponse() {
  const start = {
    id: "m",
    type: "message",
    role: "assistant",
    content: [],
    usage: { input_tokens: 1 },
  };
  const frames = [
    { type: "message_start", message: start },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Well" } },
  ];
  const body = frames.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(
    "",
  );
  return { headers: { "content-type": "text/event-stream" }, body, ending: "hang" as const };
}
