/**
 * Hooks of the configuration.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startHooks } from "../../cli/hooks/start_hooks.ts";
import { InterruptHandler } from "../../cli/host/interrupt.ts";
import { main } from "../../cli/main.ts";
import { waitUntil } from "../wait_until.ts";
import { typeConversation } from "./conversation/plain_conversation.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Runs a prompt with hooks in the user's configuration. */
async function run(
  config: string,
  { args = [], files = {}, ...options }: FakeHostOptions & {
    readonly args?: readonly string[];
    readonly files?: Readonly<Record<string, string>>;
  } = {},
) {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": config,
    ...files,
  });
  const host = createFakeHost({
    model: [scriptedReply("Done."), scriptedReply("Really done.")],
    ...options,
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  const code = await main(["run", "--approve-all", "--cwd", `${home.path}/p`, ...args, "Hi"], host);
  const read = (name: string) => Deno.readTextFile(`${home.path}/p/${name}`).catch(() => undefined);
  return {
    code,
    messages: host.messages.replaceAll(home.path, "HOME"),
    bodies: host.requests.map(({ body }) => JSON.parse(body)),
    log: await read("log"),
    y: await read("y"),
  };
}

const WRITE = [
  scriptedReply(scriptedCall("write_file", { path: "y", content: "1" })),
  scriptedReply("Done."),
];

/** Returns a configuration with one hook. */
function createHook(event: string, command: string, others = ""): string {
  return `[[hooks.${event}]]\ncommand = ${JSON.stringify(command)}\n${others}\n`;
}

Deno.test("hooks: PreToolUse gets the call as JSON, and exit code 2 blocks it with a reason", async () => {
  const seen = await run(createHook("PreToolUse", "cat >> log"), { model: WRITE });
  assertEquals([seen.code, seen.y], [0, "1"]);
  const { cwd, ...input } = JSON.parse(seen.log ?? "");
  assert(cwd.endsWith("/p"));
  assertEquals(input, {
    hook_event_name: "PreToolUse",
    tool_name: "write_file",
    tool_input: { path: "y", content: "1" },
  });
  const command = "echo 'no writing today' >&2; exit 2";
  const blocked = await run(createHook("PreToolUse", command), { model: WRITE });
  assertEquals([blocked.code, blocked.y], [0, undefined]);
  assertStringIncludes(JSON.stringify(blocked.bodies[1].messages), "no writing today");
  const json = await run(
    createHook("PreToolUse", `echo '{"decision":"block","reason":"policy"}'`),
    {
      model: WRITE,
    },
  );
  assertStringIncludes(JSON.stringify(json.bodies[1].messages), "policy");
});

Deno.test("hooks: the matcher selects tools, by our names and those of other agents", async () => {
  const isBlocked = async (matcher: string) => {
    const config = createHook("PreToolUse", "exit 2", `matcher = "${matcher}"`);
    return (await run(config, { model: WRITE })).y === undefined;
  };
  for (
    const matcher of ["*", "", "write_file", "Write", "Bash|Write", "write_*", ".*", "W|Wri.*|w.*"]
  ) {
    assertEquals(await isBlocked(matcher), true, matcher);
  }
  for (const matcher of ["bash", "Edit", "write", "file", "*_fil", "mcp__.*"]) {
    assertEquals(await isBlocked(matcher), false, matcher);
  }
});

Deno.test("hooks: one before a tool call that cannot run blocks the call; another failure is a warning", async () => {
  for (const command of ["no-such-program", "sleep 60", "kill -SEGV $$"]) {
    const { y } = await run(createHook("PreToolUse", command, "timeout = 0.2"), { model: WRITE });
    assertEquals(y, undefined, command);
  }
  const failed = await run(createHook("PreToolUse", "echo broken >&2; exit 1"), { model: WRITE });
  assertEquals(failed.y, "1");
  assertStringIncludes(failed.messages, "warning: hook PreToolUse: ");
  assertStringIncludes(failed.messages, "failed with exit code 1: broken\n");
});

Deno.test("hooks: SubagentStop runs when a sub-agent would end, and can continue it; Stop does not", async () => {
  const command =
    'read input; echo "$input" >> log; grep -q active.:true log || { echo check it again >&2; exit 2; }';
  const task = (prompt: string) => scriptedCall("task", { prompt });
  const { code, log = "", bodies } = await run(
    createHook("SubagentStop", command) + createHook("Stop", "echo stop >> log"),
    {
      model: [
        scriptedReply(task("Look")),
        scriptedReply("Found."),
        scriptedReply("Checked."),
        scriptedReply("Done."),
      ],
    },
  );
  assertEquals(code, 0);
  const [first = "", second = "", ...others] = log.trim().split("\n");
  const { cwd, ...input } = JSON.parse(first);
  assert(cwd.endsWith("/p"));
  assertEquals(input, {
    hook_event_name: "SubagentStop",
    last_message: "Found.",
    stop_hook_active: false,
  });
  assertEquals(JSON.parse(second).stop_hook_active, true);
  assertEquals(others, ["stop"]);
  assertStringIncludes(JSON.stringify(bodies[2].messages.at(-1)), "check it again");
  assertStringIncludes(JSON.stringify(bodies[3].messages.at(-1)), "Checked.");
});

Deno.test("hooks: SubagentStop keeps each sub-agent from ending at most 5 times", async () => {
  const replies = Array.from({ length: 6 }, () => scriptedReply("Found."));
  const call = scriptedReply(scriptedCall("task", { prompt: "Look" }));
  const { code, bodies } = await run(createHook("SubagentStop", "exit 2"), {
    model: [call, ...replies, call, ...replies, scriptedReply("Done.")],
  });
  assertEquals([code, bodies.length], [0, 15]);
});

Deno.test("hooks: those of tool calls run for the calls of sub-agents", async () => {
  const { log = "" } = await run(
    createHook("PreToolUse", "cat >> log", 'matcher = "Task|Write"'),
    {
      model: [
        scriptedReply(scriptedCall("task", { prompt: "Look" })),
        ...WRITE,
        scriptedReply("Done."),
      ],
    },
  );
  const names = log.trim().split("\n").map((line) => JSON.parse(line).tool_name);
  assertEquals(names, ["task", "write_file"]);
});

Deno.test("hooks: the decisions of hooks for Claude Code block a call", async () => {
  const block = async (output: object | string) => {
    const text = typeof output === "string" ? output : JSON.stringify(output);
    const config = createHook("PreToolUse", `echo '${text}'`);
    const { y, bodies, messages } = await run(config, { model: WRITE });
    return { y, text: JSON.stringify(bodies[1].messages), messages };
  };
  const decide = (permissionDecision: string) => ({
    hookSpecificOutput: { permissionDecision, permissionDecisionReason: "not today" },
  });
  for (
    const output of [decide("deny"), decide("ask"), { continue: false, stopReason: "not today" }]
  ) {
    const { y, text } = await block(output);
    assertEquals(y, undefined, JSON.stringify(output));
    assertStringIncludes(text, "not today");
  }
  for (const output of [decide("allow"), { continue: true }, "[]", "text"]) {
    assertEquals((await block(output)).y, "1", JSON.stringify(output));
  }
});

Deno.test("hooks: the decisions of hooks for other agents block a call, and an unknown one does", async () => {
  const write = async (output: object) => {
    const config = createHook("PreToolUse", `echo '${JSON.stringify(output)}'`);
    const { y, bodies } = await run(config, { model: WRITE });
    return { y, text: JSON.stringify(bodies[1].messages) };
  };
  for (
    const output of [
      { decision: "deny", reason: "not today" },
      { decision: "ask", reason: "not today" },
      { permissionDecision: "deny", permissionDecisionReason: "not today" },
    ]
  ) {
    const { y, text } = await write(output);
    assertEquals(y, undefined, JSON.stringify(output));
    assertStringIncludes(text, "not today");
  }
  for (const output of [{ decision: "Block" }, { permissionDecision: false }]) {
    const { y, text } = await write(output);
    assertEquals(y, undefined, JSON.stringify(output));
    assertStringIncludes(text, "its decision ");
  }
  for (const output of [{ decision: "approve" }, { decision: "allow" }, { decision: null }]) {
    assertEquals((await write(output)).y, "1", JSON.stringify(output));
  }
});

Deno.test("hooks: those of a project run in its root, also from a directory below", async () => {
  const config = createHook("UserPromptSubmit", "sh ./guard.sh");
  await using home = await createTemporaryDirectory({
    "p/.swink/config.toml": config,
    "p/guard.sh": 'echo "$SWINK_PROJECT_DIR"; cat\n',
    "p/a/b/x": "",
    ".config/swink/config.toml": createHook("UserPromptSubmit", "pwd; echo $SWINK_PROJECT_DIR"),
  });
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  const path = await Deno.realPath(home.path);
  assertEquals(await main(["run", "--trust", "--cwd", `${path}/p/a/b`, "Hi"], host), 0);
  const [{ content: [{ text }] }] = JSON.parse(host.requests[0]?.body ?? "").messages;
  const input = JSON.stringify({
    hook_event_name: "UserPromptSubmit",
    cwd: `${path}/p/a/b`,
    prompt: "Hi",
  });
  assertEquals(text, `Hi\n\n${path}/p/a/b\n${path}/p\n${path}/p\n${input}`);
});

Deno.test("hooks: control characters of their messages do not reach the terminal, in any format", async () => {
  const print = (code: number) => `printf '\\033]0;title\\007\\033[31mred' >&2; exit ${code}`;
  for (const format of ["text", "json", "stream-json"]) {
    const args = ["-o", format];
    const { messages } = await run(createHook("Stop", print(1)), { args });
    assertStringIncludes(messages, "failed with exit code 1: red\n", format);
  }
  const input = '{"type":"prompt","text":"Hi"}\n';
  const args = ["--input-format", "stream-json"];
  const { messages } = await run(createHook("UserPromptSubmit", print(2)), { args, input });
  assertStringIncludes(messages, "swink: A hook blocked the prompt: red\n");
});

Deno.test("hooks: a decision that cannot be read refuses the call", async () => {
  const command = "cat >> log; head -c 200000 /dev/zero | tr '\\0' a; echo '\"}'";
  const long = `printf '{"decision":"block","reason":"'; ${command}`;
  for (const hook of ['echo \'{"decision":"block"\'', long]) {
    const { y, bodies } = await run(createHook("PreToolUse", hook), { model: WRITE });
    assertEquals(y, undefined, hook);
    const text = JSON.stringify(bodies[1].messages);
    assertStringIncludes(text, "its output begins with { and is no JSON");
  }
  const { messages } = await run(createHook("Stop", "echo '{'"));
  assertStringIncludes(messages, "hook Stop: its output begins with { and is no JSON\n");
});

Deno.test("hooks: a timeout of months, or without an end, is none", async () => {
  for (const timeout of ["5_000_000", "inf"]) {
    const config = createHook("PreToolUse", "cat >> log", `timeout = ${timeout}`);
    const { code, y, log } = await run(config, { model: WRITE });
    assertEquals([code, y, typeof log], [0, "1", "string"]);
  }
});

Deno.test("hooks: a long reason is shortened", async () => {
  const command = "head -c 20000 /dev/zero | tr '\\0' a >&2; exit 2";
  const { bodies } = await run(createHook("PreToolUse", command), { model: WRITE });
  const [, , result] = bodies[1].messages;
  assertStringIncludes(result.content[0].content[0].text, "aaa… (10000 more characters)");
});

Deno.test("hooks: PostToolUse adds a text to the result of the call", async () => {
  const config = createHook("PostToolUse", "echo 'format the file' >&2; exit 2");
  const { y, bodies } = await run(config, { model: WRITE });
  assertEquals(y, "1");
  assertStringIncludes(JSON.stringify(bodies[1].messages), "format the file");
});

Deno.test("hooks: all of PostToolUse run, and each one may add a text", async () => {
  const config = createHook("PostToolUse", "echo 'first reason' >&2; exit 2") +
    createHook("PostToolUse", "echo ran >> log") +
    createHook("PostToolUse", "echo 'second reason' >&2; exit 2");
  const { bodies, log } = await run(config, { model: WRITE });
  assertEquals(log, "ran\n");
  assertStringIncludes(JSON.stringify(bodies[1].messages), "first reason\\nsecond reason");
});

Deno.test("hooks: UserPromptSubmit adds its output to the prompt, or blocks it", async () => {
  const { bodies: [body] } = await run(createHook("UserPromptSubmit", "echo 'Branch: main'"));
  assertEquals(body.messages[0].content[0].text, "Hi\n\nBranch: main");
  const blocked = await run(createHook("UserPromptSubmit", "echo 'no prompts' >&2; exit 2"));
  assertEquals([blocked.code, blocked.bodies.length], [6, 0]);
  assertStringIncludes(blocked.messages, "swink: A hook blocked the prompt: no prompts\n");
});

Deno.test("hooks: a failure is reported when it happens, and once", async () => {
  const { messages } = await run(createHook("UserPromptSubmit", "exit 1"), { args: ["--plain"] });
  assertMatch(messages, /^anthropic.*\nwarning: hook UserPromptSubmit: .*\n1 turn/);
  const model = [...WRITE.slice(0, 1), ...WRITE];
  const repeated = await run(createHook("PreToolUse", "exit 1"), { model, args: ["--plain"] });
  assertMatch(repeated.messages, /warning: hook PreToolUse.*\n(?!.*warning: hook)/s);
});

Deno.test("hooks: a conversation shows a failure when it happens", async () => {
  await using conversation = await typeConversation({
    files: { ".config/swink/config.toml": createHook("UserPromptSubmit", "exit 1") },
    model: [scriptedReply("Done."), scriptedReply("Done.")],
    typed: ["One", "Two", "/quit"],
  });
  const [first, second] = conversation.outputs;
  assertMatch(first ?? "", /^warning: hook UserPromptSubmit: /);
  assertMatch(second ?? "", /^assistant: Done\./);
});

Deno.test("hooks: SessionStart adds its output to the system prompt, SessionEnd runs last", async () => {
  const config = createHook("SessionStart", "echo 'Be kind.'; echo start >> log") +
    createHook("SessionEnd", "echo end >> log");
  const { bodies: [body], log } = await run(config);
  assertStringIncludes(JSON.stringify(body.system), "Be kind.");
  assertEquals(log, "start\nend\n");
});

Deno.test("hooks: the context of hooks for Claude Code is added instead of their output", async () => {
  const create = (event: string) => {
    const specific = { hookEventName: event, additionalContext: `Context of ${event}.` };
    return createHook(event, `echo '${JSON.stringify({ hookSpecificOutput: specific })}'`);
  };
  const { bodies: [body] } = await run(create("SessionStart") + create("UserPromptSubmit"));
  const { system, messages } = body;
  assertMatch(JSON.stringify(system), /\\n\\nContext of SessionStart\."/);
  assertMatch(JSON.stringify(messages), /"Hi\\n\\nContext of UserPromptSubmit\."/);
});

Deno.test("hooks: one of SessionStart or SessionEnd that would block is a warning, and the others count", async () => {
  const block = "echo 'not today' >&2; exit 2";
  const config = createHook("SessionStart", "echo 'Be kind.'") + createHook("SessionStart", block) +
    createHook("SessionEnd", block) + createHook("SessionEnd", "echo end >> log");
  const { code, bodies: [body], messages, log } = await run(config);
  assertEquals([code, log], [0, "end\n"]);
  assertStringIncludes(JSON.stringify(body.system), "Be kind.");
  for (const event of ["SessionStart", "SessionEnd"]) {
    assertStringIncludes(messages, `warning: hook ${event}: not today\n`);
  }
});

Deno.test("hooks: Stop keeps the run going, at most five times", async () => {
  const once = createHook(
    "Stop",
    "test -e stopped || { touch stopped; echo 'run the tests' >&2; exit 2; }",
  );
  const turns = await run(createHook("Stop", "echo stop >> log"), { model: WRITE });
  assertEquals(turns.log, "stop\n");
  const { code, bodies } = await run(once);
  assertEquals([code, bodies.length], [0, 2]);
  assertStringIncludes(JSON.stringify(bodies[1].messages.at(-1)), "run the tests");
  const model = Array.from({ length: 10 }, () => scriptedReply("Done."));
  const always = await run(createHook("Stop", "exit 2"), { model });
  assertEquals([always.code, always.bodies.length], [0, 6]);
});

Deno.test("hooks: those of a project run only if it is trusted", async () => {
  const files = { "p/.swink/config.toml": createHook("SessionStart", "echo project >> log") };
  assertEquals((await run("", { files })).log, undefined);
  assertEquals((await run("", { files, args: ["--trust"] })).log, "project\n");
  assertEquals((await run("", { files, args: ["--bare"] })).log, undefined);
});

Deno.test("hooks: an invalid hook ends the run, an unknown event is a warning", async () => {
  const file = "HOME/.config/swink/config.toml";
  const check = async (config: string) => {
    const { code, messages } = await run(config);
    return [code, messages.split("\n")[0]];
  };
  assertEquals(await check("[[hooks.PreToolUse]]\nmatcher = 'x'\n"), [
    3,
    `swink: ${file}:1: hooks.PreToolUse needs a command`,
  ]);
  assertEquals(await check("[hooks.PreToolUse]\ncommand = 'x'\n"), [
    3,
    `swink: ${file}:1: hooks.PreToolUse must be a list: write [[hooks.PreToolUse]]`,
  ]);
  assertEquals(await check("[[hooks.Stop]]\ncommand = 'x'\ntimout = 1\n"), [
    3,
    `swink: ${file}:1: Unknown key "timout" in hooks.Stop. Did you mean timeout?`,
  ]);
  assertEquals(await check("[[hooks.Stop]]\ncommand = 'x'\ntimeout = 0\n"), [
    3,
    `swink: ${file}:1: timeout of hooks.Stop must be a number of seconds above 0`,
  ]);
  const matched = (matcher: string) =>
    check(createHook("PreToolUse", "true", `matcher = "${matcher}"`));
  assertEquals(await matched("(Bash|Write)"), [
    3,
    `swink: ${file}:1: matcher of hooks.PreToolUse must be names of tools, with * for any characters, separated by |`,
  ]);
  assertEquals(await matched("bahs|Wirte"), [
    0,
    `warning: ${file}:1: matcher "bahs|Wirte" of hooks.PreToolUse matches no tool`,
  ]);
  for (const matcher of ["bash|Wirte", "x*", "mcp__x"]) {
    assertEquals(String((await matched(matcher))[1]).includes("warning"), false);
  }
  assertEquals(await check("hooks = 1\n"), [
    3,
    `swink: ${file}:1: hooks must be a table, such as [[hooks.PreToolUse]]`,
  ]);
  assertEquals(await check("[[hooks.PreTolUse]]\ncommand = 'x'\n"), [
    0,
    `warning: ${file}:1: Unknown hook "PreTolUse". Did you mean PreToolUse?`,
  ]);
});

Deno.test("hooks: one that is killed ends with the programs that it has started", async () => {
  const command = "sleep 600 & echo $! > log; wait";
  const { log } = await run(createHook("PreToolUse", command, "timeout = 0.5"), { model: WRITE });
  const args = ["-o", "stat=", "-p", log?.trim() ?? ""];
  await waitUntil(() => {
    const { stdout } = new Deno.Command("ps", { args }).outputSync();
    return !/^[^Z]/.test(new TextDecoder().decode(stdout));
  });
});

Deno.test("hooks: one of a run that has reached its time limit is killed with the run", async () => {
  const command = "echo $$ > log; exec sleep 600";
  const events = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"];
  await Promise.all(events.map(async (event) => {
    const { code, log, messages, bodies } = await run(createHook(event, command), {
      model: event.endsWith("ToolUse") ? WRITE : [scriptedReply("Done.")],
      args: ["--timeout", "2s"],
    });
    assertEquals([event, code], [event, 5]);
    assertMatch(messages, /stopped: [^\n]* reached the time limit of 2000 ms/);
    assertEquals(bodies.length, event === "SessionStart" || event === "UserPromptSubmit" ? 0 : 1);
    const args = ["-o", "stat=", "-p", log?.trim() ?? ""];
    await waitUntil(() => {
      const { stdout } = new Deno.Command("ps", { args }).outputSync();
      return !/^[^Z]/.test(new TextDecoder().decode(stdout));
    });
  }));
});

Deno.test("hooks: a signal after the run ends a hook of SessionEnd", async () => {
  await using directory = await createTemporaryDirectory({ "p/x": "" });
  const cwd = `${directory.path}/p`;
  const hooks = [
    { event: "SessionEnd", command: "echo start > log; sleep 60", timeoutMs: 60_000 },
  ] as const;
  const stop = new AbortController();
  const host = createFakeHost();
  const started = await startHooks({ hooks, cwd, signal: stop.signal }, host);
  const ending = started[Symbol.asyncDispose]();
  await waitUntil(() => existsFile(`${cwd}/log`));
  stop.abort();
  await ending;
  assertMatch(host.messages, /^warning: hook SessionEnd: .* was interrupted\n$/);
});

function existsFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

Deno.test("hooks: SessionEnd runs at the end of an interrupted run", async () => {
  await using directory = await createTemporaryDirectory();
  const hooks = [{ event: "SessionEnd", command: "echo end > log", timeoutMs: 60_000 }] as const;
  const signal = AbortSignal.abort();
  const started = await startHooks({ hooks, cwd: directory.path, signal }, createFakeHost());
  await started[Symbol.asyncDispose]();
  assertEquals(directory.read("log"), "end\n");
});

Deno.test("hooks: a second Ctrl+C kills the SessionEnd hook of an interrupted run", async () => {
  await using directory = await createTemporaryDirectory({ "p/x": "" });
  const cwd = `${directory.path}/p`;
  const hooks = [
    { event: "SessionEnd", command: "echo start > log; sleep 60", timeoutMs: 60_000 },
  ] as const;
  let time = 0;
  const host = createFakeHost({ now: () => time });
  using interrupt = new InterruptHandler(host);
  host.sendSignal("SIGINT");
  const beforeExit = interrupt.beforeExit.bind(interrupt);
  const started = await startHooks({ hooks, cwd, signal: interrupt.signal, beforeExit }, host);
  const ending = started[Symbol.asyncDispose]();
  await waitUntil(() => existsFile(`${cwd}/log`));
  time = 1_000;
  host.sendSignal("SIGINT");
  await ending;
  assertMatch(host.messages, /^warning: hook SessionEnd: .* was interrupted\n$/);
  await waitUntil(() => host.exitCodes.length > 0);
});
