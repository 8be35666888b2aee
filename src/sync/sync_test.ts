import { assert, assertEquals, assertThrows } from "@std/assert";
import { DEADLINE_MS } from "../../tests/deadline.ts";
import {
  AbortedError,
  AuthError,
  BadRequestError,
  NoMessagesError,
  StreamError,
  StructuredOutputFailedError,
} from "../core/errors/errors.ts";
import type { JsonSchema } from "../core/json/json.ts";
import { extractText } from "../core/messages/content.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import type { StreamOptions } from "../core/streams/stream.ts";
import { continueSync, promptSync, structuredOutputSync, type SyncOptions } from "./mod.ts";

const DEADLINE = { timeoutMs: DEADLINE_MS };

/** Returns the URL of a fixture, which is compiled where this test is. */
const getFixtureUrl = (name: string): URL =>
  new URL(
    `../../tests/fixtures/sync/${name}${import.meta.url.slice(-".ts".length)}`,
    import.meta.url,
  );

/** Waits until a file has not changed for 200 ms; fails if it still changes after {@linkcode DEADLINE_MS}. */
async function waitUntilQuiet(path: string): Promise<Deno.FileInfo> {
  const deadline = performance.now() + DEADLINE_MS;
  while (performance.now() < deadline) {
    const { size } = await Deno.stat(path);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const file = await Deno.stat(path);
    if (file.size === size) return file;
  }
  throw new Error(`${path} still changes`);
}

const getText = (message: AgentMessage): string =>
  message.role === "custom" ? "" : extractText(message.content);

Deno.test("promptSync() blocks until the run has ended and returns its result [4.2, AC-15]", () => {
  const result = promptSync(getFixtureUrl("agent"), "hello", DEADLINE);
  assertEquals(result.text, "You said hello");
  assertEquals([result.turns, result.stopReason, result.messages.length], [1, "stop", 2]);
});

Deno.test("continueSync() continues the history of the module's agent [4.2]", () => {
  assertEquals(continueSync(getFixtureUrl("agent"), DEADLINE).text, "You said before");
});

Deno.test("promptSync() returns a result of several chunks without splitting characters", () => {
  assertEquals(
    promptSync(getFixtureUrl("agent"), "200000", DEADLINE).text,
    "é".repeat(200_000),
  );
});

Deno.test("promptSync() returns the error of a failed run as an instance of its class", () => {
  const { error, stopReason } = promptSync(getFixtureUrl("agent"), "fail", DEADLINE);
  assertEquals([error instanceof AuthError, stopReason], [true, "error"]);
});

Deno.test("promptSync() throws when the module does not export an agent", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("no_agent"), "hello", DEADLINE),
    BadRequestError,
    "must be an Agent",
  );
});

Deno.test("promptSync() accepts a function that returns a promise of the agent", () => {
  assertEquals(promptSync(getFixtureUrl("late_agent"), "hello", DEADLINE).text, "Late");
});

Deno.test("promptSync() ends the worker, whose timers would otherwise go on", async () => {
  const path = await Deno.makeTempFile({ prefix: "swink_sync_" });
  try {
    assertEquals(promptSync(getFixtureUrl("busy_agent"), path, DEADLINE).text, "Started");
    const { size } = await waitUntilQuiet(path);
    assert(size > 0);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("promptSync() throws the error that prompt() rejects with", () => {
  assertThrows(() => promptSync(getFixtureUrl("agent"), [], DEADLINE), NoMessagesError);
});

Deno.test("promptSync() throws when the run does not end within timeoutMs", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("endless_agent"), "hello", { timeoutMs: 1 }),
    AbortedError,
    "did not end within 1 ms",
  );
});

Deno.test("promptSync() passes maxTurns, toolChoice and streamOptions to the run", () => {
  const { messages, stoppedBy } = promptSync(getFixtureUrl("looping_agent"), "hello", {
    ...DEADLINE,
    maxTurns: 2,
    toolChoice: "required",
    streamOptions: { temperature: 0.5 },
  });
  const options = messages.filter(({ role }) => role === "assistant").map(getText);
  assertEquals(stoppedBy?.policy, "max_turns");
  assertEquals(options, ['{"temperature":0.5,"toolChoice":"required"}', '{"temperature":0.5}']);
});

Deno.test("continueSync() passes the decisions on pending approvals to the run", () => {
  const { messages } = continueSync(getFixtureUrl("pending_agent"), {
    ...DEADLINE,
    approvals: { c1: true },
  });
  assertEquals(messages.map(getText), ["removed", "Done"]);
});

const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
} as const;

Deno.test("structuredOutputSync() returns an answer with the type of its schema", () => {
  const { city } = structuredOutputSync(
    getFixtureUrl("structured_agent"),
    "Where?",
    CITY,
    DEADLINE,
  );
  const typed: string = city;
  assertEquals(typed, "Paris");
});

Deno.test("structuredOutputSync() throws when no answer matches within maxRetries", () => {
  const error = assertThrows(
    () =>
      structuredOutputSync(getFixtureUrl("structured_agent"), "Where?", CITY, {
        ...DEADLINE,
        maxRetries: 0,
      }),
    StructuredOutputFailedError,
  );
  assertEquals(error.attempts, 1);
});

Deno.test("structuredOutputSync() throws for a validator", () => {
  const validator = { "~standard": { version: 1, vendor: "test" } } as JsonSchema;
  assertThrows(
    () => structuredOutputSync(getFixtureUrl("structured_agent"), "Where?", validator),
    BadRequestError,
    "pass its JSON Schema",
  );
});

for (
  const [kind, problem] of [
    ["throw", "late exception"],
    ["reject", "late rejection"],
    ["exit", "the thread exited"],
  ] as const
) {
  Deno.test(`promptSync() throws when the worker fails outside of the run: ${kind}`, () => {
    assertThrows(
      () => promptSync(getFixtureUrl("failing_agent"), kind, DEADLINE),
      StreamError,
      problem,
    );
  });
}

Deno.test("promptSync() throws when the worker shows no sign of life", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("failing_agent"), "block", { ...DEADLINE, heartbeatMs: 300 }),
    StreamError,
    "no sign of life for 300 ms",
  );
});

Deno.test("promptSync() throws when the module throws", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("broken_module"), "hello", DEADLINE),
    StreamError,
    "no configuration",
  );
});

Deno.test("promptSync() throws when the module does not exist", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("missing"), "hello", DEADLINE),
    StreamError,
    "missing.",
  );
});

Deno.test("promptSync() names the part of a result that is not JSON", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("failing_agent"), "abort", DEADLINE),
    BadRequestError,
    "/abortReason/file/size is a bigint",
  );
});

Deno.test("promptSync() throws when the options cannot be copied to another thread", () => {
  const streamOptions: StreamOptions = { extra: { onData: () => {} } };
  assertThrows(
    () => promptSync(getFixtureUrl("agent"), "hello", { streamOptions }),
    BadRequestError,
    "cannot be copied to another thread",
  );
});

Deno.test("promptSync() throws for a limit that is not a number above 0", () => {
  for (const options of [{ timeoutMs: Number.NaN }, { timeoutMs: -1 }, { heartbeatMs: 0 }]) {
    assertThrows(
      () => promptSync(getFixtureUrl("agent"), "hello", options),
      BadRequestError,
      "must be a number above 0",
    );
  }
});

Deno.test("promptSync() names the remedy in a runtime without workers", () => {
  const { Worker, process } = globalThis as { Worker: unknown; process?: unknown };
  Object.assign(globalThis, { Worker: undefined, process: undefined });
  try {
    assertThrows(
      () => promptSync(getFixtureUrl("agent"), "hello"),
      BadRequestError,
      "This runtime has no workers): use the asynchronous methods",
    );
  } finally {
    Object.assign(globalThis, { Worker, process });
  }
});

Deno.test("promptSync(), continueSync() and structuredOutputSync() throw for options that do not reach the run", () => {
  const module = getFixtureUrl("agent");
  const { signal } = new AbortController();
  assertThrows(
    () => promptSync(module, "hello", { signal } as SyncOptions),
    BadRequestError,
    'Unknown option "signal" of the synchronous run',
  );
  for (const options of [{ timeOutMS: 5 }, { timeoutms: 5 }] as object[]) {
    for (
      const call of [
        () => promptSync(module, "hello", options),
        () => continueSync(module, options),
        () => structuredOutputSync(module, "hello", CITY, options),
      ]
    ) assertThrows(call, BadRequestError, "did you mean timeoutMs?");
  }
  const approvals = {};
  assertThrows(() => promptSync(module, "hello", { approvals } as SyncOptions), BadRequestError);
  assertThrows(() => continueSync(module, { maxRetries: 1 } as SyncOptions), BadRequestError);
});
