import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../core/json/json.ts";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { OpenCommandSandbox } from "../command/command_sandbox.ts";
import { openUnconfined } from "../command/unconfined_commands.ts";
import { EvaluatorRegistry } from "./evaluator_registry.ts";
import type { Score } from "./score.ts";

interface RunOptions {
  readonly openSandbox?: OpenCommandSandbox | undefined;
  readonly signal?: AbortSignal;
  readonly prepare?: (directory: string) => Promise<void>;
}

/** Scores a run whose case names the evaluator with some options. */
async function scoreCommand(options: JsonObject, run: RunOptions = {}): Promise<Score> {
  const { signal = new AbortController().signal } = run;
  const openSandbox = "openSandbox" in run ? run.openSandbox : openUnconfined;
  const registry = EvaluatorRegistry.createDefault({ openSandbox });
  const directory = await Deno.makeTempDir({ prefix: "swink_command_" });
  try {
    await run.prepare?.(directory);
    const [score] = await registry.evaluate({
      evalCase: { id: "a", userMessages: ["Go"], evaluators: [{ name: "command", options }] },
      trajectory: {
        calls: [],
        replies: [],
        turns: 1,
        response: "",
        stopReason: "stop",
        usage: zeroUsage(),
        cost: zeroCost(),
      },
      durationMs: 1,
      directory,
      signal,
    });
    if (!score) throw new Error("There is no score");
    return score;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("command: passes if the command exits with the expected code", async () => {
  assertEquals(await scoreCommand({ command: "true" }), {
    metric: "command",
    value: 1,
    passed: true,
  });
  assertEquals((await scoreCommand({ command: "exit 3", exitCode: 3 })).passed, true);
  const failed = await scoreCommand({ command: "echo one; echo two >&2; exit 3" });
  assertEquals(failed.passed, false);
  assertEquals(failed.reason, "The command exited with code 3:\none\ntwo");
});

Deno.test("command: runs in the directory of the run", async () => {
  const prepare = (directory: string) => Deno.writeTextFile(`${directory}/a.txt`, "expected");
  const passed = await scoreCommand({ command: "grep expected a.txt" }, { prepare });
  assertEquals(passed.passed, true);
});

Deno.test("command: ends a command and its children when its time is over", async () => {
  let file = "";
  const score = await scoreCommand(
    { command: "sleep 60 & echo $! > pid; echo started; wait", timeoutMs: 300 },
    { prepare: (directory) => Promise.resolve(void (file = `${directory}/pid`)) },
  );
  assertMatch(file, /pid$/);
  assertEquals(score.reason, "The command did not end within 300 ms:\nstarted");
});

Deno.test("command: does not wait for children that keep the output open", async () => {
  const score = await scoreCommand({ command: "sleep 60 & echo done" });
  assertEquals(score.passed, true);
});

Deno.test("command: an abort ends the command", async () => {
  const controller = new AbortController();
  const score = await scoreCommand({ command: "sleep 60" }, {
    signal: controller.signal,
    prepare: () => Promise.resolve(void setTimeout(() => controller.abort(new Error("stop")), 50)),
  });
  assertEquals(score.passed, false);
});

Deno.test("command: keeps the end of a long output", async () => {
  const { reason = "" } = await scoreCommand({
    command: "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1",
  });
  assertStringIncludes(reason, "line 19999");
  assertEquals(reason.length < 5_000, true);
});

Deno.test("command: has no variable of this program that programs do not need", async () => {
  Deno.env.set("SWINK_TEST_SECRET", "secret");
  try {
    const { reason = "" } = await scoreCommand({ command: "env; exit 1" });
    assertStringIncludes(reason, "PATH=");
    assertEquals(reason.includes("SWINK_TEST_SECRET"), false);
  } finally {
    Deno.env.delete("SWINK_TEST_SECRET");
  }
});

Deno.test("command: ends the group, then what left it, before it reads the rest of the output", async () => {
  const events: string[] = [];
  const openSandbox: OpenCommandSandbox = () => ({
    startCommand: () => {
      let close = () => {};
      const output = new ReadableStream<Uint8Array>({
        start: (controller) => void (close = () => controller.close()),
      });
      return Promise.resolve({
        output,
        exited: Promise.resolve({ code: 0 }),
        terminate: () => Promise.resolve(void events.push("terminate")),
        finish: () => {
          events.push("finish");
          close();
          return Promise.resolve();
        },
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(void events.push("dispose")),
  });
  assertEquals((await scoreCommand({ command: "true" }, { openSandbox })).passed, true);
  assertEquals(events.slice(0, 2), ["terminate", "finish"]);
  assertEquals(events.at(-1), "dispose");
});

Deno.test("command: a command whose end is not known is terminated, and fails", async () => {
  let terminations = 0;
  const openSandbox: OpenCommandSandbox = () => ({
    startCommand: () =>
      Promise.resolve({
        output: new ReadableStream<Uint8Array>(),
        exited: Promise.reject(new Error("lost")),
        terminate: () => Promise.resolve(void terminations++),
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const { passed, reason } = await scoreCommand({ command: "true" }, { openSandbox });
  assertEquals([passed, reason, terminations], [false, "The evaluator failed: lost", 1]);
});

Deno.test("command: fails without a sandbox, and without a command", async () => {
  const { reason = "" } = await scoreCommand({ command: "true" }, { openSandbox: undefined });
  assertStringIncludes(reason, "Commands need a sandbox");
  for (
    const options of [{}, { command: " " }, { command: ["ls"] }, { command: "true", exitCode: "1" }]
  ) {
    const score = await scoreCommand(options);
    assertEquals(score.passed, false);
    assertMatch(score.reason ?? "", /The option "(command|exitCode)"/);
  }
});

Deno.test("command: a time limit of more than a timer can have does not end the command at once", async () => {
  const score = await scoreCommand({ command: "sleep 0.05", timeoutMs: 1e12 });
  assertEquals(score.passed, true, score.reason);
  assertMatch((await scoreCommand({ command: "true", timeoutMs: 0 })).reason ?? "", /above 0/);
});
