import { main } from "../../cli/main.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { startMockProvider } from "./mock_provider.ts";
import { runSwink } from "./swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const READ_REPLY = scriptedReply("Let me look.", scriptedCall("read_file", { path: "notes.txt" }));
const DONE_REPLY = scriptedReply("Milk and eggs.");
const MODEL = ["-m", "anthropic/claude-sonnet-5-5"];
const NO_KEYS = { env: {} };

/** A folder to work in, and beside it the place of a recording. */
async function createWorkDirectory() {
  const folder = await createTemporaryDirectory({ "work/notes.txt": "milk\neggs\n" });
  return Object.assign(folder, { cassette: `${folder.path}/run.jsonl` });
}

async function runSession(folder: TemporaryDirectory, options: FakeHostOptions, ...args: string[]) {
  const host = createFakeHost(options);
  const code = await main(["run", "--cwd", `${folder.path}/work`, ...MODEL, ...args], host);
  return { code, host };
}

Deno.test("a recorded run is replayed without a network or a key, with the same output", async () => {
  await using folder = await createWorkDirectory();
  const asked = ["-o", "text", "What is to be bought?"];
  const recorded = await runSession(
    folder,
    { model: [READ_REPLY, DONE_REPLY] },
    "--record",
    folder.cassette,
    ...asked,
  );
  assertEquals({ code: recorded.code, output: recorded.host.output }, {
    code: 0,
    output: "Milk and eggs.\n",
  });
  for (const _time of [1, 2]) {
    const replayed = await runSession(folder, NO_KEYS, "--replay", folder.cassette, ...asked);
    assertEquals(replayed.code, 0);
    assertEquals(replayed.host.outputBytes, recorded.host.outputBytes);
    assertEquals(replayed.host.requests, []);
    assertMatch(replayed.host.messages, /• read_file notes.txt\n {2}2 lines\n2 turns/);
  }
  assert(!folder.read("run.jsonl").includes("sk-ant-test"));
});

Deno.test("a recording is replayed on other days as on its own", async () => {
  await using folder = await createWorkDirectory();
  await runSession(folder, { model: [DONE_REPLY] }, "--record", folder.cassette, "Hello");
  const today = new Date().toISOString().slice(0, 10);
  const text = folder.read("run.jsonl");
  assertStringIncludes(text, today);
  const older = text.replaceAll(today, "2001-02-03")
    .replace(/"recordedAt":\d+/, `"recordedAt":${Date.UTC(2001, 1, 3)}`);
  folder.write("run.jsonl", older);
  const { code, host } = await runSession(folder, NO_KEYS, "--replay", folder.cassette, "Hello");
  assertEquals({ code, output: host.output }, { code: 0, output: "Milk and eggs.\n" });
});

Deno.test("another prompt than the recorded one ends the run with what differs", async () => {
  await using folder = await createWorkDirectory();
  await runSession(folder, { model: [DONE_REPLY] }, "--record", folder.cassette, "What is new?");
  const { code, host } = await runSession(
    folder,
    NO_KEYS,
    "--replay",
    folder.cassette,
    "What is old?",
  );
  assertEquals({ code, output: host.output }, { code: 1, output: "" });
  assertStringIncludes(host.messages, 'recorded  "What is new?"');
  assertStringIncludes(host.messages, 'actual    "What is old?"');
});

Deno.test("a run that fails is recorded as well", async () => {
  await using folder = await createWorkDirectory();
  const refused = { status: 401, body: '{"error":{"message":"invalid x-api-key"}}' };
  const recorded = await runSession(
    folder,
    { model: [refused] },
    "--record",
    folder.cassette,
    "Hello",
  );
  const replayed = await runSession(folder, NO_KEYS, "--replay", folder.cassette, "Hello");
  assertEquals([recorded.code, replayed.code], [3, 3]);
  assertEquals(replayed.host.messages, recorded.host.messages);
});

Deno.test("as a process, against a server that is gone afterwards, the output is the same", async () => {
  await using folder = await createWorkDirectory();
  const cwd = `${folder.path}/work`;
  const recorded = await (async () => {
    await using provider = startMockProvider(READ_REPLY, DONE_REPLY);
    const args = ["run", ...MODEL, "--base-url", provider.url];
    const env = { ANTHROPIC_API_KEY: "sk-ant-a-real-key" };
    const end = await runSwink([...args, "--record", folder.cassette, "What?"], { cwd, env });
    return { args, end };
  })();
  assertEquals([recorded.end.code, recorded.end.output], [0, "Milk and eggs.\n"]);
  const replayed = await runSwink([...recorded.args, "--replay", folder.cassette, "What?"], {
    cwd,
  });
  assertEquals([replayed.code, replayed.output], [0, recorded.end.output]);
});

for (
  const [what, args, message] of [
    [
      "both a recording and a replay",
      ["--record", "a.jsonl", "--replay", "b.jsonl"],
      "--record and --replay cannot both be given",
    ],
    [
      "a recording in a folder that is not there",
      ["--record", "/nowhere/a.jsonl"],
      '--record "/nowhere/a.jsonl": there is no folder /nowhere',
    ],
    [
      "a replay of a file that is not there",
      ["--replay", "/nowhere/a.jsonl"],
      '--replay: Cannot read cassette "/nowhere/a.jsonl": file not found',
    ],
  ] as const
) {
  Deno.test(`${what} ends with 2 and says what is wrong`, async () => {
    await using folder = await createWorkDirectory();
    const { code, host } = await runSession(folder, NO_KEYS, ...args, "Hello");
    assertEquals({ code, output: host.output }, { code: 2, output: "" });
    assertStringIncludes(host.messages, `swink: ${message}`);
  });
}

Deno.test("a replay of a file that is no recording, and a recording over one, leave it alone", async () => {
  await using folder = await createWorkDirectory();
  const notes = `${folder.path}/work/notes.txt`;
  const replayed = await runSession(folder, NO_KEYS, "--replay", notes, "Hello");
  assertEquals(replayed.code, 2);
  assertStringIncludes(replayed.host.messages, "is not a cassette");
  const recorded = await runSession(folder, { model: [DONE_REPLY] }, "--record", notes, "Hello");
  assertEquals(recorded.code, 1);
  assertStringIncludes(recorded.host.messages, "is not a cassette and will not be overwritten");
  assertEquals(recorded.host.requests, []);
  assertEquals(folder.read("work/notes.txt"), "milk\neggs\n");
});
