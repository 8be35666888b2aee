/** Options with a misspelt name are refused, since they would have no effect. */

import { assertRejects } from "@std/assert";
import { serveAcp, terminalTool } from "../src/protocols/acp/mod.ts";
import { toAgUi } from "../src/protocols/ag_ui/mod.ts";
import { toUiMessageStream } from "../src/protocols/ai_sdk/mod.ts";
import { BadRequestError } from "../src/core/errors/errors.ts";
import { DbosEngine } from "../src/durable/dbos/mod.ts";
import { InProcessEngine } from "../src/durable/mod.ts";
import { RestateEngine } from "../src/durable/restate/mod.ts";
import { EvaluatorRegistry, LruJudgeCache } from "../src/eval/mod.ts";
import { createEmbedder, createLocal, LocalModel, ModelStore } from "../src/local/mod.ts";
import {
  createMemoryStorage,
  FileSessionStore,
  InMemorySessionStore,
  SqliteSessionStore,
  storeFrom,
} from "../src/memory/mod.ts";
import { PostgresSessionStore } from "../src/memory/postgres/mod.ts";
import { isolatedTool } from "../src/tools/mod.ts";

/** An option that no function has, also for programs with types. */
const UNKNOWN: object = { unknownOption: 1 };

const connection = "postgres://localhost/app";

const CALLS: Record<string, () => unknown> = {
  "new FileSessionStore()": () => new FileSessionStore({ directory: "sessions", ...UNKNOWN }),
  "new SqliteSessionStore()": () => new SqliteSessionStore({ path: "sessions.db", ...UNKNOWN }),
  "new PostgresSessionStore()": () => new PostgresSessionStore({ connection, ...UNKNOWN }),
  "new InMemorySessionStore()": () => new InMemorySessionStore(UNKNOWN),
  "storeFrom()": () => storeFrom(createMemoryStorage(), UNKNOWN),
  "open() of a store in memory": () => new InMemorySessionStore().open("id", UNKNOWN),
  "open() of a store of files": () =>
    new FileSessionStore({ directory: "sessions" }).open("id", UNKNOWN),
  "close() of InProcessEngine": () =>
    new InProcessEngine({ store: new InMemorySessionStore() }).close(UNKNOWN),
  "close() of DbosEngine": () => new DbosEngine({ databaseUrl: connection }).close(UNKNOWN),
  "close() of RestateEngine": () =>
    new RestateEngine({ ingressUrl: "http://localhost:8080" }).close(UNKNOWN),
  "new ModelStore()": () => new ModelStore(UNKNOWN),
  "new LocalModel()": () => new LocalModel({ model: "qwen3-4b", ...UNKNOWN }),
  "createLocal()": () => createLocal(UNKNOWN),
  "createEmbedder()": () => createEmbedder({ model: "qwen3-4b", ...UNKNOWN }),
  "isolatedTool()": () => isolatedTool({ module: "./tool.ts", ...UNKNOWN }),
  "permissions of isolatedTool()": () =>
    isolatedTool({ module: "./tool.ts", permissions: UNKNOWN }),
  "terminalTool()": () => {
    const createTerminal = () => Promise.reject(new Error("not used"));
    return terminalTool({ createTerminal, cwd: "/", ...UNKNOWN });
  },
  "serveAcp()": () => {
    const { readable: input, writable: output } = new TransformStream<Uint8Array, Uint8Array>();
    const createSession = () => Promise.reject(new Error("not used"));
    const host = { name: "helper", version: "1.0.0", createSession };
    return serveAcp(host, { input, output, ...UNKNOWN });
  },
  "toAgUi()": () => toAgUi(new ReadableStream(), { threadId: "thread", ...UNKNOWN }),
  "toUiMessageStream()": () => toUiMessageStream(new ReadableStream(), UNKNOWN),
  "new LruJudgeCache()": () => new LruJudgeCache(UNKNOWN),
  "EvaluatorRegistry.createDefault()": () => EvaluatorRegistry.createDefault(UNKNOWN),
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`${name}: refuses an unknown option`, async () => {
    await assertRejects(
      async () => await call(),
      BadRequestError,
      'Unknown option "unknownOption"',
    );
  });
}

const NONE = undefined as never;

const CALLS_WITHOUT_OPTIONS: Record<string, () => unknown> = {
  "close()": () => new InProcessEngine({ store: new InMemorySessionStore() }).close(5_000 as never),
  "isolatedTool()": () => isolatedTool(NONE),
  "terminalTool()": () => terminalTool(NONE),
  "toAgUi()": () => toAgUi(new ReadableStream(), NONE),
};

for (const [name, call] of Object.entries(CALLS_WITHOUT_OPTIONS)) {
  Deno.test(`${name}: refuses a value that has no options`, async () => {
    await assertRejects(async () => await call(), BadRequestError, `Pass options of ${name}`);
  });
}
