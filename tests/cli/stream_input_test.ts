/**
 * Runs that a program drives with lines of JSON.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { parseInput } from "../../cli/stream_json/parse_input.ts";
import { waitUntil } from "../wait_until.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { assertInput, assertOutput } from "./stream_schema.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

interface Line {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A run that the test drives. */
interface Driven {
  /** Writes a message, or a line as it is. */
  write(message: object | string): void;
  /** Waits for a line of output. */
  until(type: string, count?: number): Promise<Line>;
  /** Ends the input; returns the exit code and all lines. */
  end(): Promise<{ readonly code: number; readonly lines: readonly Line[] }>;
  readonly path: string;
  readonly requests: () => readonly string[];
  readonly messages: () => string;
  /** Sends a signal; returns the exit code and all lines. */
  stop(signal: "SIGINT" | "SIGTERM"): Promise<{ readonly code: number; readonly lines: Line[] }>;
}

interface DriveOptions extends FakeHostOptions {
  /** The user's configuration. Default: none. */
  readonly config?: string;
}

/** Drives `swink run`. */
async function drive(
  { config = "", ...options }: DriveOptions,
  use: (driven: Driven) => Promise<void>,
  args: readonly string[] = [],
): Promise<void> {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": config,
  });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const host = createFakeHost({
    ...options,
    input: readable,
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path },
  });
  const cwd = ["--cwd", `${home.path}/p`, "--no-session"];
  const code = main(["run", ...cwd, "--input-format", "stream-json", ...args], host);
  const parse = (): Line[] => host.output.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  const send = (text: string) => void writer.write(new TextEncoder().encode(text));
  await use({
    path: `${home.path}/p`,
    write: (message) =>
      send(typeof message === "string" ? message : `${JSON.stringify(message)}\n`),
    async until(type, count = 1) {
      const find = () => parse().filter((line) => line.type === type)[count - 1];
      await waitUntil(() => find() !== undefined);
      return find() ?? { type: "missing" };
    },
    async end() {
      await writer.close();
      await code;
      await assertOutput(parse());
      return { code: await code, lines: parse() };
    },
    async stop(signal) {
      host.sendSignal(signal);
      return { code: await code, lines: parse() };
    },
    requests: () => host.requests.map(({ body }) => body),
    messages: () => host.messages,
  });
  // A run that is interrupted does not wait for the assessment of its call, which may still follow links.
  for (let count = 0; count < 50; count++) await Deno.lstat(home.path);
}

Deno.test("stream-json: prompts run one after the other, each with a result", async () => {
  await drive({ model: [scriptedReply("One."), scriptedReply("Two.")] }, async (driven) => {
    driven.write({ type: "prompt", text: "First" });
    driven.write({ type: "prompt", text: "Second" });
    const { code, lines } = await driven.end();
    assertEquals(code, 0);
    const results = lines.filter(({ type }) => type === "result");
    assertEquals(results.map(({ text, exitCode }) => [text, exitCode]), [["One.", 0], ["Two.", 0]]);
    assertEquals(lines[0]?.type, "init");
    assertStringIncludes(driven.requests()[1] ?? "", "First");
  });
});

Deno.test("stream-json: words of the command line are the first prompt", async () => {
  await drive({ model: [scriptedReply("One.")] }, async (driven) => {
    const { code, lines } = await driven.end();
    assertEquals([code, lines.at(-1)?.text], [0, "One."]);
  }, ["Hello"]);
});

Deno.test("stream-json: the program approves, denies and changes calls", async () => {
  const write = (path: string) => scriptedCall("write_file", { path, content: "1" });
  const model = [scriptedReply(write("a"), write("b"), write("c")), scriptedReply("Done.")];
  await drive({ model }, async (driven) => {
    driven.write({ type: "prompt", text: "Write" });
    const ids: unknown[] = [];
    for (const [index, decision] of DECISIONS.entries()) {
      const { id } = await driven.until("tool_approval_requested", index + 1);
      ids.push(id);
      driven.write({ type: "approval", toolCallId: id, decision });
    }
    await driven.until("result");
    driven.write({ type: "approval", toolCallId: ids[0], decision: DECISIONS[0] });
    const { code, lines } = await driven.end();
    assertEquals(code, 0);
    const ends = lines.filter(({ type }) => type === "tool_execution_end");
    assertEquals(ends.map(({ isError }) => isError), [true, false, false]);
    assertEquals(
      [...Deno.readDirSync(driven.path)].map(({ name }) => name).sort(),
      ["a", "changed", "x"],
    );
    assertStringIncludes(driven.requests()[1] ?? "", "not this file");
    const late = `line 5: no tool call ${JSON.stringify(ids[0])} waits`;
    assertEquals(lines.at(-1), { type: "input_error", message: late });
  });
});

const DECISIONS = [
  { type: "approved" },
  { type: "denied", reason: "not this file" },
  { type: "approved", arguments: { path: "changed", content: "2" } },
];

Deno.test("stream-json: a call without a decision is denied when the input ends", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  await drive({ model: [scriptedReply(call), scriptedReply("Not done.")] }, async (driven) => {
    driven.write({ type: "prompt", text: "Write" });
    await driven.until("tool_approval_requested");
    const { code, lines } = await driven.end();
    assertEquals(code, 6);
    assertStringIncludes(driven.requests()[1] ?? "", "the input ended without a decision");
    assertEquals(lines.at(-1)?.refused, ["bash"]);
  });
});

Deno.test("stream-json: steer, follow_up and interrupt act on the active run", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  const model = [scriptedReply(call), scriptedReply("Steered."), scriptedReply("Followed.")];
  await drive({ model }, async (driven) => {
    driven.write({ type: "prompt", text: "Write" });
    await driven.until("tool_approval_requested");
    driven.write({ type: "follow_up", text: "And then" });
    driven.write({ type: "steer", text: "Be quick" }); // Refuses the call that has not started.
    const result = await driven.until("result");
    assertEquals(result.text, "Followed.");
    assertStringIncludes(driven.requests()[1] ?? "", "Be quick");
    assertStringIncludes(driven.requests()[2] ?? "", "And then");
    for (const type of ["steer", "follow_up"]) driven.write({ type, text: "Late" });
    driven.write({ type: "interrupt" });
    const { lines } = await driven.end();
    assertEquals(lines.filter(({ type }) => type === "input_error").map(({ message }) => message), [
      "line 4: no run is active; send a prompt",
      "line 5: no run is active; send a prompt",
      "line 6: no run is active",
    ]);
  });
});

Deno.test("stream-json: the active run reads a steer after the calls that run", async () => {
  const command = "touch begun; until [ -e go ]; do sleep 0.01; done; echo finished";
  const call = scriptedCall("bash", { command });
  await drive({ model: [scriptedReply(call), scriptedReply("Steered.")] }, async (driven) => {
    driven.write({ type: "prompt", text: "Work" });
    await waitUntil(() => [...Deno.readDirSync(driven.path)].length === 2);
    driven.write({ type: "steer", text: "Be quick" });
    await driven.until("queue_changed");
    await Deno.writeTextFile(`${driven.path}/go`, "");
    const { code } = await driven.end();
    assertEquals(code, 0);
    const [result, steer] = JSON.parse(driven.requests()[1] ?? "").messages.at(-1).content;
    assertStringIncludes(JSON.stringify(result), "finished");
    assertEquals(steer.text, "Be quick");
  }, ["--approve-all"]);
});

Deno.test("stream-json: interrupt ends a run, and the next prompt runs", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  await drive({ model: [scriptedReply(call), scriptedReply("Two.")] }, async (driven) => {
    driven.write({ type: "prompt", text: "First" });
    await driven.until("tool_approval_requested");
    driven.write({ type: "interrupt" });
    const first = await driven.until("result");
    assertEquals([first.stopReason, first.exitCode], ["aborted", 1]);
    assertEquals(first.abortReason, "interrupted by the input");
    driven.write({ type: "prompt", text: "Second" });
    const { code, lines } = await driven.end();
    assertEquals([code, lines.at(-1)?.text], [0, "Two."]);
  });
});

Deno.test("stream-json: a line that is no message is reported, and the next one is read", async () => {
  await drive({ model: [scriptedReply("One.")] }, async (driven) => {
    const lines = ["", "{", "[]", "1", '{"type":"prompts"}', '{"type":"prompt"}'];
    driven.write(`${lines.join("\n")}\n`);
    driven.write({ type: "prompt", text: "Hello", image: "a.png" });
    driven.write('{"type":"prompt","te');
    driven.write('xt":"a\u2028b"}\n');
    const { code, lines: output } = await driven.end();
    assertEquals(code, 0);
    const noObject = 'the line is no JSON object, such as {"type":"prompt","text":"Hello"}';
    const errors = output.filter(({ type }) => type === "input_error");
    assertEquals(errors.map(({ message }) => message), [
      `line 2: ${noObject}`,
      "line 3: type must be one of prompt, steer, follow_up, interrupt, approval, not undefined",
      `line 4: ${noObject}`,
      'line 5: type must be one of prompt, steer, follow_up, interrupt, approval, not "prompts"',
      "line 6: text is required",
      "line 7: image is not a known property",
    ]);
    assertStringIncludes(driven.requests()[0] ?? "", "a\u2028b");
  });
});

Deno.test("stream-json: a blank message is reported, and the next one is read", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  await drive({ model: [scriptedReply(call), scriptedReply("Done.")] }, async (driven) => {
    driven.write({ type: "prompt", text: " " });
    driven.write({ type: "prompt", text: "Write" });
    const { id } = await driven.until("tool_approval_requested");
    for (const type of ["steer", "follow_up"]) driven.write({ type, text: " " });
    driven.write({ type: "approval", toolCallId: id, decision: { type: "denied" } });
    const { code, lines } = await driven.end();
    assertEquals([code, lines.at(-1)?.text], [0, "Done."]);
    const errors = lines.filter(({ type }) => type === "input_error");
    assertEquals(errors.map(({ message }) => message), [
      "line 1: text must not be blank",
      "line 3: text must not be blank",
      "line 4: text must not be blank",
    ]);
  });
});

Deno.test("stream-json: the published schema accepts the messages that are accepted", async () => {
  const approval = { type: "approval", toolCallId: "a" };
  for (
    const message of [
      { type: "prompt", text: "Hello", images: [{ mediaType: "image/png", data: "AA==" }] },
      { type: "steer", text: "Stop" },
      { type: "follow_up", text: "And then" },
      { type: "interrupt" },
      ...DECISIONS.map((decision) => ({ ...approval, decision })),
      { ...approval, decision: { type: "approved", scope: "prefix", prefix: "git" } },
    ]
  ) {
    await assertInput(message);
    const parsed = await parseInput(new TextEncoder().encode(JSON.stringify(message)));
    assertEquals<unknown>(parsed, { type: "message", message });
  }
});

Deno.test("stream-json: an input without a prompt is a usage error", async () => {
  await drive({}, async (driven) => {
    const { code } = await driven.end();
    assertEquals(code, 2);
    assertStringIncludes(driven.messages(), "swink: The input has no prompt\n");
  });
});

Deno.test("stream-json: other output formats and a patch are usage errors", async () => {
  for (const args of [["-ojson"], ["--patch", "p"], ["--dry-run"]]) {
    const host = createFakeHost({});
    const code = await main(["run", "--input-format", "stream-json", ...args], host);
    assertEquals(code, 2, host.messages);
  }
});

Deno.test("stream-json: a signal ends a run that waits for input", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const host = createFakeHost({
    input: readable,
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  const args = ["--cwd", `${home.path}/p`, "--no-session", "--input-format", "stream-json"];
  const code = main(["run", ...args], host);
  await waitUntil(() => host.output.includes('"init"'));
  host.sendSignal("SIGTERM");
  assertEquals(await code, 143);
  await writable.close().catch(() => {});
});

Deno.test("stream-json: images are part of the prompt", async () => {
  await drive({ model: [scriptedReply("A dot.")] }, async (driven) => {
    const data =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    driven.write({ type: "prompt", text: " ", images: [{ mediaType: "image/png", data }] });
    const { code } = await driven.end();
    assertEquals(code, 0);
    assert(driven.requests()[0]?.includes(data));
  });
});

Deno.test("stream-json: an image that is not Base64 is an input error, and is not sent", async () => {
  await drive({ model: [scriptedReply("Nothing.")] }, async (driven) => {
    for (const data of ["", "!!!", "AAA", "AA=A", "AAAA\n", "====", "https://example.com/a.png"]) {
      const image = { mediaType: "image/png", data };
      driven.write({ type: "prompt", text: "See", images: [image] });
    }
    driven.write({ type: "prompt", text: "Hello" });
    const { code, lines } = await driven.end();
    const errors = lines.filter(({ type }) => type === "input_error").map(({ message }) => message);
    const problem = "images.0.data must be the bytes in Base64";
    assertEquals(errors, Array.from({ length: 7 }, (_, index) => `line ${index + 1}: ${problem}`));
    assertEquals([code, driven.requests().length], [0, 1]);
  });
});

Deno.test("stream-json: the events of the first prompt are complete", async () => {
  await drive({ model: [scriptedReply("One.")] }, async (driven) => {
    driven.write({ type: "prompt", text: "Hello" });
    const { lines } = await driven.end();
    const types = lines.map(({ type }) => type);
    assertEquals(types.slice(0, 3), ["init", "agent_start", "turn_start"]);
    const numbers = lines.flatMap(({ seq }) => typeof seq === "number" ? [seq] : []);
    assertEquals(numbers, numbers.map((_, index) => index + (numbers[0] ?? 0)));
    assertEquals(lines[1]?.seq, numbers[0]);
  });
});

Deno.test("stream-json: messages that an interrupted run has not read are discarded", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  await drive({ model: [scriptedReply(call), scriptedReply("Two.")] }, async (driven) => {
    driven.write({ type: "prompt", text: "First" });
    await driven.until("tool_approval_requested");
    driven.write({ type: "follow_up", text: "Stale" });
    driven.write({ type: "interrupt" });
    await driven.until("result");
    driven.write({ type: "prompt", text: "Second" });
    const { lines } = await driven.end();
    assertEquals(driven.requests().some((body) => body.includes("Stale")), false);
    assertEquals(lines.find(({ type }) => type === "input_error"), {
      type: "input_error",
      message: "the run ended before it read 1 of type follow_up",
    });
  });
});

Deno.test("stream-json: a run keeps at most 100 messages that it has not read", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  await drive({ model: [scriptedReply(call)] }, async (driven) => {
    driven.write({ type: "prompt", text: "Write" });
    await driven.until("tool_approval_requested");
    for (let count = 0; count < 102; count++) driven.write({ type: "follow_up", text: "More" });
    driven.write({ type: "interrupt" });
    const { lines } = await driven.end();
    assertEquals(lines.filter(({ type }) => type === "input_error").map(({ message }) => message), [
      "line 102: too many messages wait",
      "line 103: too many messages wait",
      "the run ended before it read 100 of type follow_up",
    ]);
  });
});

Deno.test("stream-json: messages directly after a prompt belong to its run", async () => {
  const config = hook("UserPromptSubmit", "true");
  await drive({ model: [scriptedReply("One."), scriptedReply("Two.")], config }, async (driven) => {
    driven.write({ type: "prompt", text: "Hello" });
    driven.write({ type: "steer", text: "Be quick" });
    driven.write({ type: "follow_up", text: "And then" });
    const { lines } = await driven.end();
    assertEquals(lines.filter(({ type }) => type === "input_error"), []);
    assertStringIncludes(driven.requests()[0] ?? "", "Be quick");
    assertStringIncludes(driven.requests()[1] ?? "", "And then");
  });
});

Deno.test("stream-json: interrupt ends the hooks of a prompt", async () => {
  const config = hook("UserPromptSubmit", "touch started; sleep 60");
  await drive({ config }, async (driven) => {
    driven.write({ type: "prompt", text: "Hello" });
    await waitUntil(() => [...Deno.readDirSync(driven.path)].length === 2);
    driven.write({ type: "interrupt" });
    assertEquals((await driven.until("result")).stopReason, "aborted");
    await driven.end();
  });
});

Deno.test("stream-json: a prompt that a hook blocks has a result", async () => {
  const config = hook("UserPromptSubmit", "echo no secrets >&2; exit 2");
  await drive({ config }, async (driven) => {
    driven.write({ type: "prompt", text: "Hello" });
    const { code, lines } = await driven.end();
    assertEquals(code, 6);
    const last = lines.at(-1);
    const message = "A hook blocked the prompt: no secrets";
    assertEquals([last?.stopReason, last?.exitCode, last?.turns], ["error", 6, 0]);
    assertEquals((last?.error as Error).message, message);
    assertStringIncludes(driven.messages(), message);
  });
});

Deno.test("stream-json: hooks at the end of a run are limited per prompt", async () => {
  const config = hook("Stop", "echo more >&2; exit 2");
  const model = Array.from({ length: 12 }, () => scriptedReply("Done."));
  await drive({ model, config }, async (driven) => {
    driven.write({ type: "prompt", text: "First" });
    driven.write({ type: "prompt", text: "Second" });
    const { lines } = await driven.end();
    const results = lines.filter(({ type }) => type === "result");
    assertEquals(results.map(({ turns }) => turns), [6, 6]);
  });
});

Deno.test("stream-json: prompts that wait do not run after a signal", async () => {
  const call = scriptedCall("bash", { command: "touch a" });
  await drive({ model: [scriptedReply(call)] }, async (driven) => {
    for (const text of ["First", "Second"]) driven.write({ type: "prompt", text });
    await driven.until("tool_approval_requested");
    const { code, lines } = await driven.stop("SIGINT");
    assertEquals(code, 130);
    assertEquals(lines.filter(({ type }) => type === "result").length, 1);
  });
});

function hook(event: string, command: string): string {
  return `[[hooks.${event}]]\ncommand = ${JSON.stringify(command)}\n`;
}
