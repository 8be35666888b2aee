import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  type AgentEvent,
  type AgentTool,
  type AgentToolResult,
  defineTool,
  NetworkError,
} from "../../mod.ts";
import type { AgentEventBody } from "../../src/loop/mod.ts";
import { zeroUsage } from "../../src/loop/mod.ts";
import { createFakeHost } from "../../tests/cli/fake_host.ts";
import { createTextReporter } from "../run/report/run_reporter.ts";
import { getStyle } from "./style.ts";
import type { OpenQuestions, Verbosity } from "./text_reporter.ts";

/** Creates a reporter on a terminal of 60 columns, with a clock of fake time. */
function createReporter(
  { verbosity = "normal", env = {}, tools = [], questions }: {
    readonly questions?: OpenQuestions;
    readonly verbosity?: Verbosity;
    readonly tools?: readonly AgentTool[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
) {
  const host = createFakeHost({
    terminals: ["output", "messages"],
    columns: 60,
    env: { NO_COLOR: "1", ...env },
    now: Date.now,
  });
  const reporter = createTextReporter(host, {
    text: host.terminal.output,
    live: true,
    verbosity,
    tools,
    questions,
  });
  let seq = 0;
  return {
    host,
    reporter,
    async emit(...events: readonly AgentEventBody[]): Promise<void> {
      for (const event of events) await reporter.onEvent({ ...event, seq: ++seq } as AgentEvent);
    },
    [Symbol.dispose]: () => reporter[Symbol.dispose](),
  };
}

const MESSAGE = { role: "assistant", content: [], timestamp: 0, usage: zeroUsage() } as const;

function startReply(): AgentEventBody {
  return { type: "message_start", message: MESSAGE } as unknown as AgentEventBody;
}

function text(delta: string): AgentEventBody {
  return { type: "message_update", delta: { type: "text_delta", contentIndex: 0, delta } };
}

function endReply(...ids: readonly string[]): AgentEventBody {
  const content = ids.map((id) => ({ type: "tool_call", id, name: "bash", arguments: {} }));
  return { type: "message_end", message: { ...MESSAGE, content } } as unknown as AgentEventBody;
}

function startCall(id: string, command = id): AgentEventBody {
  return { type: "tool_execution_start", id, name: "bash", arguments: { command } };
}

function endCall(id: string, output = "done", isError = false): AgentEventBody {
  const result: AgentToolResult = { content: [{ type: "text", text: output }] };
  return { type: "tool_execution_end", id, name: "bash", result, isError };
}

Deno.test("TextReporter: writes one line per call, in call order, however they end", async () => {
  using session = createReporter();
  const { host, emit } = session;
  await emit(endReply("a", "b", "c"), startCall("a"), startCall("b"), startCall("c"));
  await emit(endCall("c"), endCall("b"));
  assertEquals(host.screen, "");
  await emit(endCall("a"));
  assertEquals(host.screen, "• bash a · done\n• bash b · done\n• bash c · done\n");
});

Deno.test("TextReporter: the status shows what a sub-agent does and awaits", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  const emitOfSubAgent = (event: AgentEventBody) =>
    emit({ type: "sub_agent", path: ["a"], event: { ...event, seq: 1 } } as AgentEventBody);
  await emit(endReply("a"), {
    type: "tool_execution_start",
    id: "a",
    name: "task",
    arguments: { prompt: "Look" },
  });
  await emitOfSubAgent(startCall("inner", "grep \x1b[31mx"));
  await time.tickAsync(1_000);
  assertStringIncludes(host.screen, "task Look · 1 s · bash grep <U+001B>[31mx");
  const error = new NetworkError("connection refused");
  await emitOfSubAgent({ type: "retry", attempt: 1, delayMs: 0, error, discard: false });
  await time.tickAsync(1_000);
  assertStringIncludes(host.screen, "2 s · attempt 1 failed, retrying now");
  await emitOfSubAgent({ type: "warning", code: "x", message: "careful" });
  await emitOfSubAgent(endCall("inner"));
  await emit(endCall("a", "Found."));
  assertStringIncludes(host.screen, "warning: careful\n");
  assert(host.screen.endsWith("• task Look · Found. · 2.0 s\n"), host.screen);
});

Deno.test("TextReporter: the duration of a call does not include the wait for earlier calls", async () => {
  using time = new FakeTime();
  using session = createReporter({ env: { TERM: "dumb" } });
  const { host, emit } = session;
  await emit(endReply("a", "b"), startCall("a"), startCall("b"));
  await time.tickAsync(1_500);
  await emit(endCall("b"));
  await time.tickAsync(10_000);
  await emit(endCall("a"));
  assertEquals(host.screen, "• bash a · done · 11.5 s\n• bash b · done · 1.5 s\n");
});

Deno.test("TextReporter: a long result and a duration leave space for the command", async () => {
  using time = new FakeTime();
  using session = createReporter({ env: { TERM: "dumb" } });
  await session.emit(endReply("a"), startCall("a", "vi notes"));
  await time.tickAsync(60_000);
  const outcome = "Exit code: 124 (timed out after 60000 ms; the command was killed)";
  await session.emit(endCall("a", outcome));
  assertEquals(
    session.host.screen,
    "• bash vi notes · Exit code: 124 (timed out aft… · 1 min 0 s\n",
  );
});

Deno.test("TextReporter: the duration of a call does not include that of calls that run before it", async () => {
  using time = new FakeTime();
  const bash = defineTool({
    name: "bash",
    description: "Runs",
    parameters: { type: "object" },
    concurrencyKey: () => "bash",
    execute: () => "",
  });
  using session = createReporter({ env: { TERM: "dumb" }, tools: [bash] });
  const { host, emit } = session;
  await emit(endReply("a", "b", "c"), startCall("a"), startCall("b"), startCall("c"));
  await time.tickAsync(2_000);
  await emit(endCall("a"));
  await time.tickAsync(1_500);
  // Cancelled while they run and wait.
  await emit(endCall("c"), endCall("b"));
  assertEquals(
    host.screen,
    "• bash a · done · 2.0 s\n• bash b · done · 1.5 s\n• bash c · done\n",
  );
});

Deno.test("TextReporter: writes finished calls when the turn ends without the earlier ones", async () => {
  using session = createReporter();
  const { host, emit } = session;
  await emit(endReply("a", "b"), startCall("a"), startCall("b"), endCall("b"));
  const turnEnd = {
    type: "turn_end",
    turn: 1,
    message: MESSAGE,
    toolResults: [],
    reason: "aborted",
  };
  await emit(turnEnd as unknown as AgentEventBody);
  assertEquals(host.screen, "• bash b · done\n");
});

Deno.test("TextReporter: shows the running command after a second without output, and erases it", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(endReply("a"), startCall("a", "deno test"));
  await emit({ type: "tool_execution_update", id: "a", update: "first\nok | 3 passed\n" });
  await time.tickAsync(999);
  assertEquals(host.screen, "");
  await time.tickAsync(1);
  const status = (seconds: number) =>
    `\x1b[2mbash deno test · ${seconds} s · ok | 3 passed\x1b[22m\r`;
  assertEquals(host.screen, status(1));
  await time.tickAsync(1_000);
  assertEquals(host.screen, `${status(1)}\r\x1b[J${status(2)}`);
  await emit(endCall("a"));
  assertEquals(
    host.screen,
    `${status(1)}\r\x1b[J${status(2)}\r\x1b[J• bash deno test · done · 2.0 s\n`,
  );
  await time.tickAsync(10_000);
  assert(host.screen.endsWith("2.0 s\n"), "no status without a call");
});

Deno.test("TextReporter: shows the status below an open line of text, and returns to it", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(startReply(), text("One two "));
  await time.tickAsync(1_000);
  const status = "\x1b[2mwaiting for the model · 1 s\x1b[22m\r";
  assertEquals(host.screen, `One two\n${status}`);
  await emit(text("three"), endReply());
  assertEquals(host.screen, `One two\n${status}\r\x1b[J\x1b[A\x1b[7C three\n`);
});

Deno.test("TextReporter: returns from the status to the end of text with tabs", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(startReply(), text("a\tb\tcode "));
  await time.tickAsync(1_000);
  await emit(text("more"), endReply());
  assertStringIncludes(host.screen, "a\tb\tcode\n\x1b[2m");
  assertStringIncludes(host.screen, "\r\x1b[J\x1b[A\x1b[20C more\n");
});

Deno.test("TextReporter: the status of a long command shows its time and its output", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(endReply("a"), startCall("a", "deno test --allow-all --parallel ".repeat(5)));
  await time.tickAsync(1_000);
  const row = `bash ${"deno test --allow-all --parallel ".repeat(5)}`;
  assertEquals(host.screen, `\x1b[2m${row.slice(0, 52)}… · 1 s\x1b[22m\r`);
  await emit({
    type: "tool_execution_update",
    id: "a",
    update: `12\tof\t20 ${"files ".repeat(9)}`,
  });
  await time.tickAsync(1_000);
  const rest = `12 of 20 ${"files ".repeat(9)}`;
  assert(
    host.screen.endsWith(`\x1b[2m${row.slice(0, 29)}… · 2 s · ${rest.slice(0, 19)}…\x1b[22m\r`),
    host.screen,
  );
});

Deno.test("TextReporter: the name of a tool and its status take one line", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  const name = "x\n• bash rm";
  const delta = { type: "tool_call_start", contentIndex: 0, id: "a", name } as const;
  await emit(startReply(), { type: "message_update", delta });
  await time.tickAsync(1_000);
  assertStringIncludes(host.screen, "preparing x • bash rm · 1 s");
  await emit(endReply("a"), { ...startCall("a"), name } as AgentEventBody, endCall("a"));
  assertStringIncludes(host.screen, "• x • bash rm a · done\n");
});

Deno.test("TextReporter: shows no status below a full line, to which the cursor cannot return", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(startReply(), text(`${"a".repeat(60)} `));
  await time.tickAsync(5_000);
  assertEquals(host.screen, "a".repeat(60));
});

Deno.test("TextReporter: erases a status that was shown before the end of a suspension was noticed", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(startReply(), text("One two "));
  await time.tickAsync(1_000);
  const status = "\x1b[2mwaiting for the model · 1 s\x1b[22m\r";
  host.continueAfterSuspension();
  await emit(text("three"), endReply());
  assertEquals(host.screen, `One two\n${status}\r\x1b[Jthree\n`);
});

Deno.test("TextReporter: erases the status before a suspension", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(startReply());
  await time.tickAsync(1_000);
  host.terminal.requestSuspension();
  await time.tickAsync(0);
  assertEquals(host.screen, "\x1b[2mwaiting for the model · 1 s\x1b[22m\r\r\x1b[J");
});

Deno.test("TextReporter: counts the time down until a retry, and shows how to end the run", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  const error = Object.assign(new Error("slow down"), { code: "model_throttled" });
  const retry = { type: "retry", attempt: 1, delayMs: 600_000, error, discard: false };
  await emit(startReply(), retry as unknown as AgentEventBody);
  assertEquals(host.screen, "attempt 1 failed, retrying in 10 min 0 s: slow down\n");
  await time.tickAsync(1_000);
  assert(host.screen.endsWith("\x1b[2mretrying in 9 min 59 s · Ctrl+C ends the run\x1b[22m\r"));
  for (let second = 1; second < 590; second++) await time.tickAsync(1_000);
  assert(host.screen.endsWith("\x1b[2mretrying in 10 s · Ctrl+C ends the run\x1b[22m\r"));
  for (let second = 0; second < 12; second++) await time.tickAsync(1_000);
  assert(host.screen.endsWith("\x1b[2mretrying in 0 s · Ctrl+C ends the run\x1b[22m\r"));
});

Deno.test("TextReporter: shows no status during a question", async () => {
  using time = new FakeTime();
  using session = createReporter();
  const { host, emit } = session;
  await emit(endReply("a", "b"), startCall("b"));
  await emit({ type: "tool_approval_requested", id: "a", name: "bash", arguments: {} });
  await time.tickAsync(60_000);
  assertEquals(host.screen, "");
});

Deno.test("TextReporter: shows no status on a terminal that cannot move the cursor", async () => {
  using time = new FakeTime();
  using session = createReporter({ env: { TERM: "dumb" } });
  const { host, emit } = session;
  await emit(startReply());
  await time.tickAsync(60_000);
  assertEquals(host.screen, "");
});

Deno.test("TextReporter: a notice waits for the end of the text, and is wrapped and not truncated", async () => {
  using session = createReporter();
  const { host, emit } = session;
  const message = "a policy failed and has been ignored, ".repeat(4).trim();
  await emit(startReply(), text("I will write two files and run a "));
  await emit({ type: "warning", code: "policy_failed", message });
  await emit(text("command."), endReply());
  const [answer, , ...notice] = host.screen.trimEnd().split("\n");
  assertEquals(answer, "I will write two files and run a command.");
  assertEquals(notice.join(" "), `warning: ${message}`);
  for (const line of notice) assert(line.length <= 60, line);
});

Deno.test("TextReporter: a notice before the first reply and one between replies are written at once", async () => {
  using session = createReporter();
  const { host, emit } = session;
  const warn = (message: string) => emit({ type: "warning", code: "policy_failed", message });
  await warn("one");
  assertEquals(host.screen, "warning: one\n");
  await emit(startReply(), text("Text."), endReply());
  await warn("two");
  assertEquals(host.screen, "warning: one\n\nText.\n\nwarning: two\n");
});

Deno.test("TextReporter: a discarded attempt ends its line and resets the wrapping", async () => {
  using session = createReporter();
  const { host, emit } = session;
  const error = Object.assign(new Error("overloaded"), { code: "network_error" });
  await emit(startReply(), text("```\ncode that is cut o"));
  const retry = { type: "retry", attempt: 1, delayMs: 0, error, discard: true };
  await emit(retry as unknown as AgentEventBody);
  await emit(text("word ".repeat(20)), endReply());
  assertStringIncludes(
    host.screen,
    "code that is cut o\n\nattempt 1 failed, retrying now; the text above is discarded:\noverloaded\n\nword word",
  );
  for (const line of host.screen.split("\n")) assert(line.length <= 60, line);
});

Deno.test("TextReporter: mentions discarded text only where some was shown", async () => {
  using session = createReporter();
  const error = Object.assign(new Error("overloaded"), { code: "network_error" });
  const retry = { type: "retry", attempt: 1, delayMs: 0, error, discard: true };
  await session.emit(startReply(), retry as unknown as AgentEventBody);
  assertEquals(session.host.screen, "attempt 1 failed, retrying now: overloaded\n");
});

Deno.test("TextReporter: quiet writes the answer only, verbose also the output of tools", async () => {
  using quiet = createReporter({ verbosity: "quiet" });
  await quiet.emit(startReply(), text("Hi."), endReply("a"), startCall("a"), endCall("a"));
  assertEquals(quiet.host.screen, "");
  using verbose = createReporter({ verbosity: "verbose" });
  await verbose.emit(endReply("a"), startCall("a"), endCall("a", "one\ntwo"));
  assertEquals(verbose.host.screen, "• bash a · 2 lines\n  one\n  two\n");
});

Deno.test("TextReporter: verbose shows the change of a call, unless it failed or was refused", async () => {
  const tool = defineTool({
    name: "bash",
    description: "Changes a file.",
    parameters: { type: "object" },
    preview: () =>
      Promise.resolve([{ path: "a", before: "old", after: "new", diff: "-old\n+new\n" }]),
    execute: () => "",
  });
  using session = createReporter({ verbosity: "verbose", tools: [tool] });
  await session.emit(endReply("a", "b"), startCall("a"), endCall("a"));
  await session.emit(startCall("b"), endCall("b", "Refused", true));
  assertEquals(
    session.host.screen,
    "• bash a · done\n  -old\n  +new\n• bash b · Refused\n  Refused\n",
  );
});

Deno.test("TextReporter: quiet keeps the warning about the sandbox, on standard error", async () => {
  using session = createReporter({ verbosity: "quiet" });
  await session.reporter.onNotice("Sandbox: nothing confines commands");
  assertEquals(session.host.messages, "Sandbox: nothing confines commands\n");
  assertEquals(session.host.output, "");
});

Deno.test("TextReporter: follows the width of the terminal", async () => {
  using session = createReporter();
  const { host, emit } = session;
  await emit(startReply(), text("word ".repeat(8)), text("\n"));
  host.resize(20, 24);
  await emit(text("word ".repeat(8)), endReply());
  const [first = "", ...rest] = host.screen.trimEnd().split("\n");
  assertEquals(first.length, 39);
  for (const line of rest) assert(line.trimEnd().length <= 20, line);
  assertEquals(getStyle(host.terminal.output, host.env).faint("x"), "x");
});

Deno.test("TextReporter: writes nothing while a question is open, also no status", async () => {
  using time = new FakeTime();
  const question = Promise.withResolvers<void>();
  let isAsking = false;
  let onAsk = () => Promise.resolve();
  using run = createReporter({
    questions: {
      get isAsking() {
        return isAsking;
      },
      untilAnswered: () => question.promise,
      onAsk: (listener) => {
        onAsk = listener;
        return () => {};
      },
    },
  });
  await run.emit(startReply(), endReply("a", "b"), startCall("a"), startCall("b"));
  await time.tickAsync(1_500);
  assertStringIncludes(run.host.messages, "· 1 s");
  isAsking = true;
  await onAsk();
  const shown = run.host.messages;
  assert(shown.endsWith("\r\x1b[J"), JSON.stringify(shown));
  const ended = run.emit(endCall("b"));
  await time.tickAsync(5_000);
  assertEquals(run.host.messages, shown);
  isAsking = false;
  question.resolve();
  await ended;
  await run.emit(endCall("a"));
  assert(run.host.messages.length > shown.length);
});
