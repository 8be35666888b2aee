import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import {
  createFakeHost,
  FAKE_TIME,
  type FakeHostOptions,
  scriptedCall,
  scriptedReply,
} from "./fake_host.ts";
import { startMockProvider } from "./mock_provider.ts";
import { runSwink } from "./swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const READ_REPLY = scriptedReply("Let me look.", scriptedCall("read_file", { path: "notes.txt" }));
const DONE_REPLY = scriptedReply("Milk and eggs.");
const MODEL = ["-m", "anthropic/claude-sonnet-5-5"];
const NO_KEYS = { env: {} };

/** Creates a working directory, and the path of a recording outside of it. */
async function createWorkDirectory() {
  const directory = await createTemporaryDirectory({ "work/notes.txt": "milk\neggs\n" });
  return Object.assign(directory, { cassette: `${directory.path}/run.jsonl` });
}

async function runSession(
  directory: TemporaryDirectory,
  options: FakeHostOptions,
  ...args: string[]
) {
  const host = createFakeHost(options);
  const code = await main(["run", "--cwd", `${directory.path}/work`, ...MODEL, ...args], host);
  return { code, host };
}

/** Returns a function that runs a prompt; its last argument takes the path of the recording. */
function createRun({ path, cassette }: Awaited<ReturnType<typeof createWorkDirectory>>) {
  return async (options: FakeHostOptions, ...args: readonly string[]) => {
    const host = createFakeHost(options);
    const code = await main(["run", "--cwd", `${path}/work`, ...args, cassette, "Hello"], host);
    return { code, output: host.output };
  };
}

Deno.test("--replay: repeats the output of a recorded run without network and key", async () => {
  await using directory = await createWorkDirectory();
  const args = ["-o", "text", "What is to be bought?"];
  const recorded = await runSession(
    directory,
    { model: [READ_REPLY, DONE_REPLY] },
    "--record",
    directory.cassette,
    ...args,
  );
  assertEquals({ code: recorded.code, output: recorded.host.output }, {
    code: 0,
    output: "Milk and eggs.\n",
  });
  for (const _attempt of [1, 2]) {
    const replayed = await runSession(directory, NO_KEYS, "--replay", directory.cassette, ...args);
    assertEquals(replayed.code, 0);
    assertEquals(replayed.host.outputBytes, recorded.host.outputBytes);
    assertEquals(replayed.host.requests, []);
    assertMatch(replayed.host.messages, /• read_file notes.txt · 2 lines\n2 turns/);
  }
  assert(!directory.read("run.jsonl").includes("sk-ant-test"));
});

Deno.test("--replay: uses the default model that was recorded", async () => {
  await using directory = await createWorkDirectory();
  const run = createRun(directory);
  const recorded = await run({ model: [DONE_REPLY] }, "--record");
  assertEquals(recorded, { code: 0, output: "Milk and eggs.\n" });
  assertEquals(await run(NO_KEYS, "--replay"), recorded);
});

Deno.test("--replay: uses the model that was recorded, also another than the default one", async () => {
  await using directory = await createWorkDirectory();
  const run = createRun(directory);
  const model = ["-m", "anthropic/claude-haiku-5-5"];
  const recorded = await run({ model: [DONE_REPLY] }, ...model, "--record");
  assertEquals(recorded, { code: 0, output: "Milk and eggs.\n" });
  assertEquals(await run(NO_KEYS, "--replay"), recorded);
});

Deno.test("--replay: uses the recorded URL where another one is set", async () => {
  await using directory = await createWorkDirectory();
  const run = createRun(directory);
  const recorded = await run({ model: [DONE_REPLY] }, ...MODEL, "--record");
  assertEquals(recorded, { code: 0, output: "Milk and eggs.\n" });
  const url = "https://gateway.example.com";
  const env = { ANTHROPIC_BASE_URL: url };
  assertEquals(await run({ env }, "--replay"), recorded);
  assertEquals(await run({ env }, ...MODEL, "--replay"), recorded);
  assertEquals(await run(NO_KEYS, ...MODEL, "--base-url", url, "--replay"), recorded);
  directory.write("home/.config/swink/config.toml", `[providers.anthropic]\nbase_url = "${url}"\n`);
  assertEquals(await run({ env: { HOME: `${directory.path}/home` } }, "--replay"), recorded);
});

for (const name of ["anthropic/claude-x", "openai/gpt-x", "lab/gpt-x"]) {
  Deno.test(`--replay: needs neither the model ${name} nor the URL of its gateway`, async () => {
    await using directory = await createWorkDirectory();
    await using gateway = startMockProvider(DONE_REPLY);
    const prompt = ["--cwd", `${directory.path}/work`, "Hello"];
    const host = Object.assign(
      createFakeHost({ env: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" } }),
      { fetch },
    );
    const options = ["-m", name, "--base-url", gateway.url, "--record", directory.cassette];
    assertEquals(await main(["run", ...options, ...prompt], host), 0, host.messages);
    for (const model of [[], ...name.startsWith("lab/") ? [] : [["-m", name]]]) {
      const replay = createFakeHost(NO_KEYS);
      const code = await main(["run", ...model, "--replay", directory.cassette, ...prompt], replay);
      assertEquals([code, replay.output], [0, "Milk and eggs.\n"], replay.messages);
    }
  });
}

Deno.test("--replay: works on a later date than that of the recording", async () => {
  await using directory = await createWorkDirectory();
  await runSession(directory, { model: [DONE_REPLY] }, "--record", directory.cassette, "Hello");
  const today = new Date(FAKE_TIME).toISOString().slice(0, 10);
  const text = directory.read("run.jsonl");
  assertStringIncludes(text, today);
  const older = text.replaceAll(today, "2001-02-03")
    .replace(/"recordedAt":\d+/, `"recordedAt":${Date.UTC(2001, 1, 3)}`);
  directory.write("run.jsonl", older);
  const { code, host } = await runSession(
    directory,
    NO_KEYS,
    "--replay",
    directory.cassette,
    "Hello",
  );
  assertEquals({ code, output: host.output }, { code: 0, output: "Milk and eggs.\n" });
});

Deno.test("--replay: reports how a request differs from the recorded one", async () => {
  await using directory = await createWorkDirectory();
  await runSession(
    directory,
    { model: [DONE_REPLY] },
    "--record",
    directory.cassette,
    "What is new?",
  );
  const { code, host } = await runSession(
    directory,
    NO_KEYS,
    "--replay",
    directory.cassette,
    "What is old?",
  );
  assertEquals({ code, output: host.output }, { code: 1, output: "" });
  assertStringIncludes(host.messages, 'recorded  "What is new?"');
  assertStringIncludes(host.messages, 'actual    "What is old?"');
});

Deno.test("--replay: ignores durations in results of tools, and not in prompts", async () => {
  await using directory = await createWorkDirectory();
  directory.write("work/notes.txt", "3 tests passed (12ms)\n");
  const prompt = "Wait 10 seconds";
  const model = [READ_REPLY, DONE_REPLY];
  await runSession(directory, { model }, "--record", directory.cassette, prompt);
  directory.write("work/notes.txt", "3 tests passed (15ms)\n");
  const replay = async (text: string) =>
    (await runSession(directory, NO_KEYS, "--replay", directory.cassette, text)).code;
  assertEquals(await replay(prompt), 0);
  assertEquals(await replay("Wait 20 seconds"), 1);
  directory.write("work/notes.txt", "2 tests passed (15ms)\n");
  assertEquals(await replay(prompt), 1);
});

Deno.test("--record: records a failing run", async () => {
  await using directory = await createWorkDirectory();
  const rejection = { status: 401, body: '{"error":{"message":"invalid x-api-key"}}' };
  const recorded = await runSession(
    directory,
    { model: [rejection] },
    "--record",
    directory.cassette,
    "Hello",
  );
  const replayed = await runSession(directory, NO_KEYS, "--replay", directory.cassette, "Hello");
  assertEquals([recorded.code, replayed.code], [3, 3]);
  // The advice names the place of the key, and a replay has none.
  const withoutAdvice = ({ host }: typeof recorded) =>
    host.messages.replace(/^Check that .*\n/m, "");
  assertEquals(withoutAdvice(replayed), withoutAdvice(recorded));
});

Deno.test("--record, --replay: refuse a model on this device, which sends no requests", async () => {
  await using directory = await createWorkDirectory();
  const run = createRun(directory);
  await run({ model: [DONE_REPLY] }, "--record");
  const recorded = directory.read("run.jsonl");
  for (const option of ["--record", "--replay"]) {
    const host = createFakeHost(NO_KEYS);
    const { path, cassette } = directory;
    const args = ["run", "--cwd", `${path}/work`, "-m", "local/x", option, cassette, "Hello"];
    assertEquals(await main(args, host), 2);
    assertStringIncludes(host.messages, `${option} cannot be used with local/x, which runs on`);
  }
  assertEquals(directory.read("run.jsonl"), recorded);
});

Deno.test("--replay: repeats the output in a process when the server is stopped", async () => {
  await using directory = await createWorkDirectory();
  const cwd = `${directory.path}/work`;
  const recorded = await (async () => {
    await using provider = startMockProvider(READ_REPLY, DONE_REPLY);
    const args = ["run", ...MODEL, "--base-url", provider.url];
    const env = { ANTHROPIC_API_KEY: "sk-ant-a-real-key" };
    const end = await runSwink([...args, "--record", directory.cassette, "What?"], { cwd, env });
    return { args, end };
  })();
  assertEquals([recorded.end.code, recorded.end.output], [0, "Milk and eggs.\n"]);
  const replayed = await runSwink([...recorded.args, "--replay", directory.cassette, "What?"], {
    cwd,
  });
  assertEquals([replayed.code, replayed.output], [0, recorded.end.output]);
});

for (
  const [mistake, args, message] of [
    [
      "--record with --replay",
      ["--record", "a.jsonl", "--replay", "b.jsonl"],
      "--record and --replay cannot be combined",
    ],
    [
      "a recording in a missing directory",
      ["--record", "/nowhere/a.jsonl"],
      'Invalid value "/nowhere/a.jsonl" for --record: there is no directory /nowhere',
    ],
    [
      "a missing recording",
      ["--replay", "/nowhere/a.jsonl"],
      '--replay: Cannot read cassette "/nowhere/a.jsonl": file not found',
    ],
  ] as const
) {
  Deno.test(`exit code: 2 for ${mistake}`, async () => {
    await using directory = await createWorkDirectory();
    const { code, host } = await runSession(directory, NO_KEYS, ...args, "Hello");
    assertEquals({ code, output: host.output }, { code: 2, output: "" });
    assertStringIncludes(host.messages, `swink: ${message}`);
  });
}

Deno.test("--record, --replay: reject a file that is not a recording and leave it unchanged", async () => {
  await using directory = await createWorkDirectory();
  const notes = `${directory.path}/work/notes.txt`;
  const replayed = await runSession(directory, NO_KEYS, "--replay", notes, "Hello");
  assertEquals(replayed.code, 2);
  assertStringIncludes(replayed.host.messages, "is not a cassette");
  const recorded = await runSession(directory, { model: [DONE_REPLY] }, "--record", notes, "Hello");
  assertEquals(recorded.code, 2);
  assertEquals(
    recorded.host.messages,
    `swink: --record: Cannot record to "${notes}": the file is not a cassette and will not be overwritten; choose another file\n`,
  );
  assertEquals(recorded.host.requests, []);
  assertEquals(directory.read("work/notes.txt"), "milk\neggs\n");
});
