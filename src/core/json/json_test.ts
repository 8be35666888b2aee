import { assert, assertEquals, assertNotStrictEquals } from "@std/assert";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import type { AgentEvent } from "../events/event.ts";
import { type AgentMessage, userMessage } from "../messages/message.ts";
import { modelSpec } from "../models/model.ts";
import { zeroCost, zeroUsage } from "../models/usage.ts";
import type { LlmContext, StreamOptions } from "../streams/stream.ts";
import { cloneJson, isDeeperThan, isJsonObject, MAX_JSON_DEPTH, toJsonValue } from "./json.ts";

const call = toolCall("bash", { command: "ls", nested: { list: [1, null, "é"] } }, { id: "a" });
const usage = { ...zeroUsage(), input: 3, total: 3, extra: { reasoning: 1 } };
const messages: AgentMessage[] = [
  {
    role: "user",
    content: [
      text("Look", { signature: "s" }),
      { type: "image", source: { type: "file", path: "a.png", mediaType: "image/png" } },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
    ],
    timestamp: 1,
  },
  assistantMessage(
    [thinking("", { signature: "s", redacted: true }), text("…"), call, {
      type: "extension",
      typeName: "x",
      data: [1, { a: null }],
    }],
    { usage, stopReason: "error", errorMessage: "no", errorCode: "network_error" },
  ),
  toolResultMessage(call, "done", { isError: true, details: { exitCode: 1 } }),
  { role: "custom", type: "note", data: { text: "milk" }, timestamp: 2 },
];
const context: LlmContext = {
  systemPrompt: "Be kind",
  messages: [userMessage("Hi", 1)],
  tools: [{ name: "bash", description: "Runs", parameters: { type: "object" } }],
};
const options: StreamOptions = { temperature: 0, toolChoice: { name: "bash" }, extra: { seed: 1 } };
const events: AgentEvent[] = [
  { type: "agent_start", runId: "r", seq: 1 },
  { type: "tool_execution_end", id: "a", name: "bash", result: { content: [] }, isError: false },
  { type: "agent_end", messages, stopReason: "stop", usage, cost: zeroCost(), seq: 2 },
  {
    type: "queue_changed",
    queued: { steering: [{ id: "q", message: messages[0] ?? userMessage("", 0) }], followUp: [] },
  },
];

Deno.test("messages, events and requests are unchanged by JSON and structuredClone() [1.1, AC-10]", () => {
  const values = [messages, context, options, events, usage, modelSpec("openai/gpt-5:high")];
  for (const value of values) {
    assertEquals(JSON.parse(JSON.stringify(value)), value);
    assertEquals<unknown>(structuredClone(value), value);
  }
});

Deno.test("isJsonObject() is true for objects only", () => {
  assert(isJsonObject({}));
  for (const value of [null, [], "x", 1, undefined]) assert(!isJsonObject(value));
});

Deno.test("cloneJson() returns a deep copy", () => {
  const value = { a: [{ b: 1 }, "x", null] };
  const copy = cloneJson(value);
  assertEquals(copy, value);
  assertNotStrictEquals(copy, value);
  assertNotStrictEquals(copy.a[0], value.a[0]);
});

Deno.test("cloneJson() copies the result of toJSON(), which may be no object", () => {
  const value = { at: new Date(0), list: [new URL("https://example.com/a")] };
  assertEquals(cloneJson(value), JSON.parse(JSON.stringify(value)));
});

Deno.test("cloneJson() copies `__proto__` as an own property", () => {
  const value: unknown = JSON.parse('{"__proto__": {"polluted": true}, "a": 1}');
  const copy = cloneJson(value) as Record<string, unknown>;
  assertEquals(JSON.stringify(copy), JSON.stringify(value));
  assertEquals(copy["polluted"], undefined);
  assertEquals(Object.getPrototypeOf(copy), Object.prototype);
});

Deno.test("cloneJson() replaces numbers that are not finite with null", () => {
  const value = { a: NaN, list: [Infinity, -Infinity, 1.5], ["-0"]: -0 };
  assertEquals(JSON.stringify(cloneJson(value)), JSON.stringify(value));
  assertEquals(cloneJson(value), { a: null, list: [null, null, 1.5], ["-0"]: -0 } as never);
  assertEquals(cloneJson(NaN), null as never);
});

/** Returns a value that is nested `levels` deep. */
function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
  return value;
}

Deno.test("isDeeperThan() counts arrays and objects", () => {
  assertEquals(isDeeperThan(1, 0), false);
  assertEquals(isDeeperThan([], 0), true);
  assertEquals(isDeeperThan([{ a: 1 }], 2), false);
  assertEquals(isDeeperThan([1, { a: [] }], 2), true);
});

Deno.test("cloneJson() cuts a value off below 210 levels, also one that contains itself", () => {
  assertEquals(cloneJson(nest(MAX_JSON_DEPTH + 10)), nest(MAX_JSON_DEPTH + 10));
  assertEquals(isDeeperThan(cloneJson(nest(20_000)), MAX_JSON_DEPTH + 10), false);
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  assertEquals(isDeeperThan(cloneJson(cyclic), MAX_JSON_DEPTH + 10), false);
});

Deno.test("cloneJson() and toJsonValue() copy random values as JSON does (seed 3)", () => {
  const random = seededRandom(3);
  const leaves: readonly unknown[] = [0, -1.5, NaN, Infinity, "", "a", true, false, null];
  const others: readonly unknown[] = [() => {}, Symbol("s")];
  const create = (depth: number, leafList: readonly unknown[]): unknown => {
    const kind = depth === 0 ? 0 : Math.floor(random() * 5);
    const items = () =>
      Array.from({ length: Math.floor(random() * 4) }, () => create(depth - 1, leafList));
    if (kind === 1) return items();
    if (kind === 2) return Object.fromEntries(items().map((item, index) => [`k${index}`, item]));
    if (kind === 3) {
      const json = items();
      return { toJSON: () => json };
    }
    if (kind === 4) return new Date(Math.floor(random() * 1e12));
    return leafList[Math.floor(random() * leafList.length)];
  };
  for (let round = 0; round < 2_000; round++) {
    const value = create(4, [...leaves, undefined, ...others]);
    const text = JSON.stringify(value);
    assertEquals(JSON.stringify(cloneJson(value)), text);
    if (text !== undefined) assertEquals(cloneJson(value), JSON.parse(text));
    const plain = create(4, [...leaves, undefined]) ?? null;
    assertEquals(toJsonValue(plain), { value: JSON.parse(JSON.stringify(plain)) });
  }
});

Deno.test("toJsonValue() converts as JSON.stringify() does", () => {
  const values = [
    { a: [1, "x", true, null], b: { c: {} } },
    { missing: undefined, list: [undefined, NaN, Infinity], at: new Date(0) },
    { toJSON: () => ({ toJSON: 5, nested: new URL("https://example.com") }) },
    new Point(1, 2),
    [Object.create(null), Object.create(Object.create(null))],
    new Array(3),
    "text",
    NaN,
  ];
  for (const value of values) {
    assertEquals(toJsonValue(value), { value: JSON.parse(JSON.stringify(value)) });
  }
});

Deno.test("toJsonValue() returns a copy, with `__proto__` as an own property", () => {
  const value: unknown = JSON.parse('{"__proto__":{"a":1}}');
  const result = toJsonValue(value);
  assert("value" in result);
  assertEquals(JSON.stringify(result.value), '{"__proto__":{"a":1}}');
  assertNotStrictEquals(result.value, value);
  assertEquals(({} as Record<string, unknown>)["a"], undefined);
});

Deno.test("toJsonValue() accepts a value that occurs twice", () => {
  const shared = { a: 1 };
  assertEquals(toJsonValue([shared, shared]), { value: [{ a: 1 }, { a: 1 }] });
});

Deno.test("toJsonValue() returns the problem with a value that is not JSON", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["list"] = [cyclic];
  const hostile = new Proxy({}, {
    ownKeys: () => {
      throw new Error("no keys");
    },
  });
  const failing = {
    get a(): never {
      throw new Error("no value");
    },
  };
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const unreadable = {
    get a(): never {
      throw revoked;
    },
  };
  const cases: [unknown, string][] = [
    [undefined, "the value is undefined"],
    [5n, "the value is a bigint"],
    [{ a: [{ b: 5n }] }, "/a/0/b is a bigint"],
    [{ a: [1], b: { c: "x", d: 5n } }, "/b/d is a bigint"],
    [[() => {}], "/0 is a function"],
    [{ a: Symbol("x") }, "/a is a symbol"],
    [cyclic, "/list/0 contains itself"],
    [failing, "/a cannot be read: no value"],
    [{ a: hostile }, "/a cannot be read: no keys"],
    [{ toJSON: () => 5n }, "the value is a bigint"],
    [unreadable, "/a cannot be read: The error has no message"],
  ];
  for (const [value, problem] of cases) assertEquals(toJsonValue(value), { problem });
  assertEquals(toJsonValue(nest(MAX_JSON_DEPTH)), { value: nest(MAX_JSON_DEPTH) as never });
  assert("problem" in toJsonValue(nest(MAX_JSON_DEPTH + 1)));
  const deep = toJsonValue(nest(20_000));
  assert("problem" in deep);
  assertEquals(deep.problem.endsWith(" is nested more than 200 levels deep"), true);
});

Deno.test("toJsonValue() returns the problem with an object whose data is not in its properties", () => {
  const cases: readonly [unknown, string][] = [
    [new Map([["a", 1]]), "the value"],
    [{ users: new Set(["Ann"]) }, "/users"],
    [new Error("Broken"), "the value"],
    [Object.assign(new RangeError("Broken"), { code: "E1" }), "the value"],
    [new Response("Hello"), "the value"],
    [new Blob(["Hello"]).stream(), "the value"],
    [[new Uint8Array(1), 1], "/0"],
    [new ArrayBuffer(1), "the value"],
    [generate(), "the value"],
    [/a/, "the value"],
    [new Account("Ann"), "the value"],
  ];
  for (const [value, position] of cases) {
    const problem = `${position} has data that is not JSON, such as a Map`;
    assertEquals(toJsonValue(value), { problem });
  }
});

Deno.test("toJsonValue() names a promise, whose rejection does not end the process", async () => {
  const late = () => Promise.reject(new Error("late"));
  assertEquals(toJsonValue({ users: [late(), late()] }), { problem: "/users/0 is a promise" });
  assertEquals(toJsonValue([5n, late()]), { problem: "/0 is a bigint" });
  assertEquals(toJsonValue(late()), { problem: "the value is a promise" });
  await new Promise((resolve) => setTimeout(resolve, 0));
});

class Point {
  readonly x: number;
  readonly y: number;

  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
}

class Account {
  readonly #owner: string;

  constructor(owner: string) {
    this.#owner = owner;
  }

  get owner(): string {
    return this.#owner;
  }
}

async function* generate(): AsyncGenerator<string> {
  yield await Promise.resolve("Hello");
}

Deno.test("cloneJson() omits members with a symbol as the key", () => {
  const value = { a: 1, [Symbol("b")]: { c: 1 } };
  assertEquals(Object.getOwnPropertySymbols(cloneJson(value)), []);
});

Deno.test("cloneJson() and toJsonValue() keep `__proto__` where it is an accessor, as it is not on Deno", () => {
  const value: unknown = JSON.parse('{"__proto__":{"a":{}},"b":1}');
  const accessor = Object.getOwnPropertyDescriptor(Object.prototype, "__proto__");
  Object.defineProperty(Object.prototype, "__proto__", {
    configurable: true,
    get: () => undefined,
    set(prototype: object) {
      Object.setPrototypeOf(this, prototype);
    },
  });
  try {
    const copies = [cloneJson(value), toJsonValue(value)];
    assertEquals(copies.map((copy) => JSON.stringify(copy)), [
      '{"__proto__":{"a":{}},"b":1}',
      '{"value":{"__proto__":{"a":{}},"b":1}}',
    ]);
  } finally {
    if (accessor) Object.defineProperty(Object.prototype, "__proto__", accessor);
    else delete (Object.prototype as unknown as Record<string, unknown>)["__proto__"];
  }
});
