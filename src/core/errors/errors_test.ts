import { assert, assertEquals, assertInstanceOf, assertObjectMatch } from "@std/assert";
import * as errors from "./errors.ts";
import {
  AgentError,
  type AgentErrorCode,
  type AgentErrorRecord,
  createAgentError,
  getErrorMessage,
  ModelThrottledError,
  NetworkError,
  StructuredOutputFailedError,
} from "./errors.ts";

const names: Record<AgentErrorCode, string> = {
  context_window_overflow: "ContextWindowOverflowError",
  model_throttled: "ModelThrottledError",
  network_error: "NetworkError",
  structured_output_failed: "StructuredOutputFailedError",
  already_running: "AlreadyRunningError",
  no_messages: "NoMessagesError",
  invalid_continue: "InvalidContinueError",
  stream_error: "StreamError",
  aborted: "AbortedError",
  auth_error: "AuthError",
  content_filtered: "ContentFilteredError",
  model_not_found: "ModelNotFoundError",
  bad_request: "BadRequestError",
  budget_exceeded: "BudgetExceededError",
  tool_timeout: "ToolTimeoutError",
  session_error: "SessionError",
};
const codes = Object.keys(names) as AgentErrorCode[];

Deno.test("AgentError: String() gives its name and message [1.8]", () => {
  for (const code of codes) {
    assertEquals(String(createAgentError(code, "it broke")), `${names[code]}: it broke`);
  }
});

Deno.test("AgentError: default messages of usage errors name the remedy [1.8]", () => {
  assertEquals(
    new errors.AlreadyRunningError().message,
    "The agent is already running: wait for it, steer it or abort it",
  );
  assertEquals(
    new errors.NoMessagesError().message,
    "There are no messages to send: pass a text",
  );
  assertEquals(
    new errors.InvalidContinueError().message,
    "Cannot continue after a finished reply: prompt the agent, or queue a message first",
  );
});

Deno.test("createAgentError(): each code has its own subclass of AgentError and Error [1.9]", () => {
  const classes = codes.map((code) => createAgentError(code, "x"));
  for (const error of classes) {
    assertInstanceOf(error, AgentError);
    assertInstanceOf(error, Error);
    assert(typeof error.stack === "string");
  }
  assertEquals(new Set(classes.map((error) => error.constructor)).size, codes.length);
  assertEquals(classes.map(({ code }) => code), codes);
});

Deno.test("AgentError: only throttling and network errors are retryable by default", () => {
  const retryable = codes.filter((code) => createAgentError(code, "x").retryable);
  assertEquals(retryable, ["model_throttled", "network_error"]);
  assertEquals(new ModelThrottledError("quota", { retryable: false }).retryable, false);
  assertEquals(createAgentError("stream_error", "x", { retryable: true }).retryable, true);
});

Deno.test("AgentError: has the properties of its options, and none that are undefined", () => {
  const cause = new Error("socket closed");
  const full = new NetworkError("lost", {
    status: 503,
    retryAfterMs: 2000,
    provider: "openai",
    requestId: "req_1",
    cause,
  });
  assertEquals(
    [full.status, full.retryAfterMs, full.provider, full.requestId, full.cause],
    [503, 2000, "openai", "req_1", cause],
  );
  const bare = new NetworkError("lost");
  assertEquals(Object.keys(bare).toSorted(), ["code", "name", "retryable"]);
  assert(!("cause" in bare));
});

Deno.test("AgentError: from() restores the class and the properties from JSON", () => {
  for (const code of codes) {
    const options = {
      status: 429,
      retryAfterMs: 5,
      provider: "p",
      model: "m",
      requestId: "r",
      retryable: true,
      attempts: 3,
      lastError: "no object",
      cause: new Error("deeper"),
    };
    const error = createAgentError(code, "it broke", options);
    const record: AgentErrorRecord = JSON.parse(JSON.stringify(error));
    const { attempts: _attempts, lastError: _lastError, ...attributes } = options;
    assertObjectMatch(record, { code, message: "it broke", ...attributes, cause: "deeper" });
    const restored = AgentError.from(record);
    assertEquals(restored.constructor, error.constructor);
    assertEquals(restored.message, "it broke");
    assertEquals(restored.cause, "deeper");
    assertEquals(JSON.parse(JSON.stringify(restored)), record);
  }
});

Deno.test("AgentError: from() restores the attempts and last error of StructuredOutputFailedError", () => {
  const restored = AgentError.from(
    new StructuredOutputFailedError("no", { attempts: 4, lastError: "not an object" }).toJSON(),
  );
  assertInstanceOf(restored, StructuredOutputFailedError);
  assertEquals([restored.attempts, restored.lastError], [4, "not an object"]);
});

Deno.test("AgentError: from() keeps a code that this version does not know", () => {
  for (const code of ["from_the_future", "constructor", "__proto__"]) {
    const error = AgentError.from({ code: code as AgentErrorCode, message: "x", retryable: false });
    assertInstanceOf(error, AgentError);
    assertEquals(error.code, code as AgentErrorCode);
  }
});

Deno.test("AgentError: from() makes a record without a code a StreamError", () => {
  for (const code of [undefined, null, 5]) {
    const record = { code, message: "x", retryable: false } as unknown as AgentErrorRecord;
    assertInstanceOf(AgentError.from(record), errors.StreamError);
  }
});

Deno.test("AgentError: from() ignores attributes of a wrong type", () => {
  const restored = AgentError.from({
    code: "session_error",
    message: "locked",
    retryable: "yes",
    status: "429",
    retryAfterMs: null,
    reason: 5,
    owner: null,
    cause: { message: "deep" },
    stack: "forged",
  } as unknown as AgentErrorRecord);
  assertEquals({ ...restored }, {
    name: "SessionError",
    code: "session_error",
    retryable: false,
    reason: "read_failed",
  } as never);
  assert(!("cause" in restored));
  assert(restored.stack !== "forged");
});

Deno.test("AgentError: is() recognizes errors of another copy of the library", async () => {
  assert(AgentError.is(new NetworkError("x")));
  const { proxy: unreadable, revoke } = Proxy.revocable({}, {});
  revoke();
  for (
    const value of [new Error("x"), { code: "network_error" }, "x", null, undefined, unreadable]
  ) {
    assert(!AgentError.is(value));
  }
  const copy: typeof errors = await import(`${new URL("./errors.ts", import.meta.url)}?copy`);
  const foreign: unknown = new copy.NetworkError("x");
  assert(!(foreign instanceof AgentError));
  assert(AgentError.is(foreign));
});

Deno.test("getErrorMessage() returns a message for any thrown value", () => {
  const unreadable = {
    get message(): string {
      throw new Error("no");
    },
  };
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  const cases: [unknown, string][] = [
    [new Error("lost"), "lost"],
    [new TypeError(""), "TypeError"],
    ["plain", "plain"],
    [{ message: "like an error" }, "like an error"],
    [{ status: 5 }, '{"status":5}'],
    [undefined, "undefined"],
    [null, "null"],
    [42, "42"],
    [Symbol("s"), "Symbol(s)"],
    [Object.create(null), "{}"],
    [{ toJSON: () => undefined }, "The error has no message"],
    [{ message: "" }, '{"message":""}'],
    [Object.assign(new Error("lost"), { message: ["name is empty", 5] }), '["name is empty",5]'],
    [Object.assign(new Error("lost"), { message: 5n }), "5"],
    [Object.assign(new TypeError("lost"), { message: null }), "TypeError"],
    [Object.assign(new TypeError("lost"), { message: Symbol("s") }), "Symbol(s)"],
    [Object.assign(new TypeError(""), { name: {} }), "The error has no message"],
    [
      Object.assign(new Error("lost"), { message: circular }),
      "The error has no message",
    ],
    [unreadable, "The error has no message"],
    [circular, "The error has no message"],
  ];
  for (const [thrown, message] of cases) assertEquals(getErrorMessage(thrown), message);
});
