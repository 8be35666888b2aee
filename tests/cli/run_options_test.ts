/**
 * Options of `swink run` about the model, the prompt, limits and output files.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

/** Runs `swink run` in the directory `p` of a home directory. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  options: FakeHostOptions = {},
) {
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    ...options,
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path, ...options.env },
  });
  const code = await main(["run", "--no-session", "--cwd", `${home.path}/p`, ...args, "Hi"], host);
  const bodies = host.requests.map(({ body }) => JSON.parse(body));
  return {
    code,
    bodies,
    screen: host.screen,
    output: host.output,
    messages: host.messages.replaceAll(home.path, "HOME"),
  };
}

Deno.test("swink run --effort: sets the thinking level, and replaces that of the model", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const getThinking = async (...args: string[]) => {
    const { bodies: [body] } = await run(home, args);
    return JSON.stringify([body.thinking, body.output_config]);
  };
  const high = await getThinking("-m", "anthropic/claude-opus-5:high");
  const max = await getThinking("-m", "anthropic/claude-opus-5:extra_high");
  assert(high !== max);
  assertEquals(await getThinking("-m", "anthropic/claude-opus-5", "--effort", "high"), high);
  for (const level of ["extra_high", "xhigh", "max"]) {
    assertEquals(await getThinking("-m", "anthropic/claude-opus-5:low", "--effort", level), max);
  }
  assertEquals((await run(home, ["--effort", "huge"])).code, 2);
});

Deno.test("swink run --fallback-model: another model continues when the first one fails", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const headers = { "content-type": "application/json", "retry-after": "0" };
  const busy = { status: 529, headers, body: "{}" };
  const args = ["-m", "anthropic/a", "--fallback-model", "anthropic/b,anthropic/c"];
  const { code, bodies, messages } = await run(home, args, {
    model: [busy, busy, busy, busy, busy, busy, scriptedReply("Done.")],
  });
  assertEquals([code, bodies.map(({ model }) => model).join("")], [0, "aaabbbc"]);
  assertStringIncludes(messages, "a failed, continuing with b: anthropic answered 529");
  assertEquals((await run(home, ["--fallback-model", "x"])).code, 2);
});

const REJECTED = [401, 403].map((status) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "error", error: { message: `rejected with ${status}.` } }),
}));

Deno.test("swink run --fallback-model: another model continues when the key is rejected, with one warning for each model", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const call = scriptedReply(scriptedCall("list_directory"));
  const args = ["-q", "-m", "anthropic/a", "--fallback-model", "anthropic/b,anthropic/c"];
  const { code, bodies, messages } = await run(home, args, {
    model: [...REJECTED, call, ...REJECTED, scriptedReply("Done.")],
  });
  assertEquals([code, bodies.map(({ model }) => model).join("")], [0, "abcabc"]);
  const advice = "Check that the key in ANTHROPIC_API_KEY is valid and may use this model.";
  const lines = messages.replaceAll(/\n(?!warning)/g, " ").trim().split("\n");
  assertEquals(
    lines,
    [["a", 401], ["b", 403]].map(([model, status]) =>
      `warning: anthropic/${model} cannot be used, so the next fallback model continues: ` +
      `anthropic answered ${status}: rejected with ${status}. ${advice}`
    ),
  );
});

Deno.test("swink run --fallback-model: another model continues where there is no key for one", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const args = ["-q", "-m", "anthropic/a", "--fallback-model", "openai/b,anthropic/c"];
  const { code, bodies, messages } = await run(home, args, {
    model: [...REJECTED.slice(0, 1), scriptedReply("Done.")],
  });
  assertEquals([code, bodies.map(({ model }) => model).join("")], [0, "ac"]);
  assertStringIncludes(
    messages.replaceAll(/\s+/g, " "),
    "warning: openai/b cannot be used, so the next fallback model continues: " +
      "No API key for openai: set OPENAI_API_KEY, or run swink login openai ",
  );
});

Deno.test("swink run --fallback-model: another model continues where a key command fails, which ends a run of its own", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": `[providers.openai]
key_command = "echo locked >&2; exit 3"
[providers.lab]
base_url = "https://lab.example/v1"
key_command = "exit 4"
`,
  });
  const args = ["-q", "-m", "openai/a", "--fallback-model", "lab/b,anthropic/c"];
  const { code, bodies, messages } = await run(home, args, { model: [scriptedReply("Done.")] });
  assertEquals([code, bodies.map(({ model }) => model).join("")], [0, "c"]);
  const text = messages.replaceAll(/\s+/g, " ");
  for (const reason of ["openai: sh failed with exit code 3: locked", "lab: sh failed with exit"]) {
    assertStringIncludes(text, `: the key command for ${reason}`);
  }
  const single = await run(home, ["-m", "openai/a"]);
  assertEquals([single.code, single.bodies], [3, []]);
});

Deno.test("swink run --fallback-model: a key command runs once, when its model is called", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "calls": "" });
  home.write(
    ".config/swink/config.toml",
    `[providers.openai]\nkey_command = "echo x >> '${home.path}/calls'; exit 3"\n`,
  );
  const unused = await run(home, ["-q", "-m", "anthropic/a", "--fallback-model", "openai/b"], {
    model: [scriptedReply("Done.")],
  });
  assertEquals([unused.code, home.read("calls")], [0, ""]);
  const call = scriptedReply(scriptedCall("list_directory"));
  const args = ["-q", "-m", "openai/a", "--fallback-model", "openai/b,anthropic/c"];
  const { code } = await run(home, args, { model: [call, call, scriptedReply("Done.")] });
  assertEquals([code, home.read("calls")], [0, "x\n"]);
});

Deno.test("swink run --fallback-model: the error of the last model ends the run when its key is rejected, too", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const args = ["-m", "anthropic/a", "--fallback-model", "anthropic/b", "-o", "json"];
  const { code, bodies, output, messages } = await run(home, args, { model: REJECTED });
  assertEquals([code, bodies.map(({ model }) => model).join("")], [3, "ab"]);
  const { error } = JSON.parse(output);
  assertEquals([error.status, error.retryable], [403, false]);
  assertStringIncludes(messages, "warning: anthropic/a cannot be used");
});

Deno.test("swink run --system-file, --append-system-prompt: compose the system prompt", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "prompt.md": "You are brief.\n" });
  const getPrompt = async (...args: string[]) => {
    const { bodies: [body] } = await run(home, args);
    return body.system[0].text;
  };
  const file = `${home.path}/prompt.md`;
  assertEquals(await getPrompt("--system-file", file), "You are brief.\n");
  assertEquals(await getPrompt("--system", "A", "--append-system-prompt", "B"), "A\n\nB");
  assert((await getPrompt("--append-system-prompt", "Be kind.")).endsWith("\n\nBe kind."));
  const { code, messages } = await run(home, ["--system-file", `${home.path}/none`]);
  assertEquals(code, 2);
  assertStringIncludes(messages, 'Invalid value "HOME/none" for --system-file: ');
  assertEquals((await run(home, ["--system", "A", "--system-file", file])).code, 2);
});

Deno.test("swink run: the last of several equal options applies, also one with the value -", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { bodies: [body] } = await run(home, ["--system", "A", "--system=B", "-m", "anthropic/c"]);
  assertEquals(body.system[0].text, "B");
  const file = `${home.path}/a.patch`;
  for (const [first, last] of [[file, "-"], ["-", file]] as const) {
    const { code, messages } = await run(home, ["--patch", first, "--patch", last], {
      terminals: ["input"],
    });
    assertEquals([code, messages.includes("reading standard input")], [7, false]);
    assertEquals(pathExists(file), last === file);
  }
});

Deno.test("swink run: short flags can be written as one", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const quiet = await run(home, ["-qm", "anthropic/c"]);
  assertEquals([quiet.bodies[0].model, quiet.messages], ["c", ""]);
  for (const args of [["-pq"], ["-qp"]]) {
    const host = createFakeHost({
      model: [scriptedReply("Done.")],
      env: { ANTHROPIC_API_KEY: "k" },
    });
    const code = await main([
      ...args,
      "-m",
      "anthropic/c",
      "--no-session",
      "--cwd",
      home.path,
      "Hi",
    ], host);
    assertEquals([code, host.output, host.messages], [0, "Done.\n", ""]);
  }
  assertEquals((await run(home, ["-qv"])).code, 2);
  assertStringIncludes((await run(home, ["-qx"])).messages, "Unknown option -qx");
});

Deno.test("swink run --max-budget-usd: a request that could exceed the budget is not sent", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, bodies, messages } = await run(home, ["--max-budget-usd", "0.0001"]);
  assertEquals([code, bodies.length], [5, 0]);
  assertStringIncludes(messages, "swink: stopped: ");
  assertEquals((await run(home, ["--max-budget-usd", "5"])).code, 0);
  for (const value of ["-1", "x", "1e3"]) {
    assertEquals((await run(home, [`--max-budget-usd=${value}`])).code, 2, value);
  }
});

Deno.test("swink run --max-budget-usd: a budget below the price of the longest reply limits the length of replies", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const getLength = async (budget: string, ...args: string[]) => {
    const model = ["-m", "anthropic/claude-sonnet-5-5"];
    const { code, bodies } = await run(home, ["--max-budget-usd", budget, ...model, ...args]);
    return [code, ...bodies.map(({ max_tokens: length }) => length)];
  };
  assertEquals(await getLength("20"), [0, 128_000]);
  assertEquals(await getLength("1"), [0, 25_000]);
  assertEquals(await getLength("0.1"), [0, 4_096]);
  // A fallback model that is more expensive can continue within the budget, too.
  assertEquals(await getLength("1", "--fallback-model", "anthropic/claude-opus-5"), [0, 10_000]);
});

Deno.test("swink run --timeout: ends the run, also within a command", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const model = [scriptedReply(scriptedCall("bash", { command: "sleep 60" }))];
  const { code, messages } = await run(home, ["--timeout", "0.4s", "--approve-all"], { model });
  assertEquals(code, 5);
  assertStringIncludes(messages, "swink: stopped: ");
  for (const value of ["10", "0s", "5 m", "m", "1d"]) {
    const invalid = await run(home, ["--timeout", value]);
    assertEquals(invalid.code, 2, value);
    assertStringIncludes(invalid.messages, "must be a duration such as 90s, 10m or 1h");
  }
});

Deno.test("swink run --output-last-message: writes the text of the last reply", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const file = `${home.path}/answer.txt`;
  const model = [
    scriptedReply("Looking.", scriptedCall("read_file", { path: "x" })),
    scriptedReply("Done."),
  ];
  assertEquals((await run(home, ["--output-last-message", file], { model })).code, 0);
  assertEquals(home.read("answer.txt"), "Done.\n");
  assertEquals((await run(home, ["--output-last-message", `${home.path}/no/x`])).code, 2);
});

Deno.test("swink run --color: overrides the terminal and the variables", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const isColored = async (args: readonly string[], options: FakeHostOptions = {}) =>
    (await run(home, args, options)).screen.includes("\x1b[");
  const terminals = ["output", "messages"] as const;
  assertEquals(await isColored([]), false);
  assertEquals(await isColored(["--color", "always"]), true);
  assertEquals(await isColored(["--color", "always"], { env: { NO_COLOR: "1" } }), true);
  assertEquals(await isColored(["--color", "auto"], { terminals }), true);
  assertEquals(await isColored(["--color", "never", "-q"], { terminals }), false);
  assertEquals(
    await isColored(["--color", "never", "-q"], { terminals, env: { FORCE_COLOR: "1" } }),
    false,
  );
});

Deno.test("swink run --permission-mode: acceptEdits approves edits, bypass all calls", async () => {
  const getResults = async (...args: string[]) => {
    await using home = await createTemporaryDirectory({ "p/x": "" });
    const model = [
      scriptedReply(
        scriptedCall("write_file", { path: "y", content: "1" }),
        scriptedCall("bash", { command: "touch z" }),
      ),
      scriptedReply("Done."),
    ];
    const { code } = await run(home, args, { model });
    const exists = (name: string) =>
      Deno.lstat(`${home.path}/p/${name}`).then(() => true, () => false);
    return [code, await exists("y"), await exists("z")];
  };
  assertEquals(await getResults(), [6, false, false]);
  assertEquals(await getResults("--permission-mode", "acceptEdits"), [6, true, false]);
  assertEquals(await getResults("--permission-mode", "bypass"), [0, true, true]);
  assertEquals(await getResults("--approve-all"), [0, true, true]);
  const deny = ["--disallowed-tools", "write_file(*)"];
  assertEquals(await getResults("--permission-mode", "acceptEdits", ...deny), [6, false, false]);
});

Deno.test("swink run --add-dir: tools may read and write in another directory", async () => {
  const write = async (...args: string[]) => {
    await using home = await createTemporaryDirectory({ "p/x": "", "q/x": "" });
    const call = scriptedCall("write_file", { path: "../q/y", content: "1" });
    const model = [scriptedReply(call), scriptedReply("Done.")];
    const options = args.map((arg) => arg.replace("HOME", home.path));
    const { code } = await run(home, ["--approve-all", ...options], { model });
    return [code, await Deno.lstat(`${home.path}/q/y`).then(() => true, () => false)];
  };
  assertEquals(await write(), [0, false]);
  assertEquals(await write("--add-dir", "HOME/q"), [0, true]);
  assertEquals(await write("--add-dir", "HOME/none"), [2, false]);
});
