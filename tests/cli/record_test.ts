import { main } from "../../cli/main.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { calls, fakeHost, type FakeHostOptions, says } from "./fake_host.ts";
import { mockProvider } from "./mock_provider.ts";
import { swink } from "./swink_process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary_folder.ts";

const LOOK = says("Let me look.", calls("read_file", { path: "notes.txt" }));
const DONE = says("Milk and eggs.");
const MODEL = ["-m", "anthropic/claude-sonnet-5-5"];
const NOBODY = { env: {} };

/** A folder to work in, and beside it the place of a recording. */
async function workplace() {
  const folder = await temporaryFolder({ "work/notes.txt": "milk\neggs\n" });
  return Object.assign(folder, { cassette: `${folder.path}/run.jsonl` });
}

async function run(folder: TemporaryFolder, options: FakeHostOptions, ...args: string[]) {
  const host = fakeHost(options);
  const code = await main(["run", "--cwd", `${folder.path}/work`, ...MODEL, ...args], host);
  return { code, host };
}

Deno.test("a recorded run is replayed without a network or a key, with the same output", async () => {
  await using folder = await workplace();
  const asked = ["-o", "text", "What is to be bought?"];
  const recorded = await run(
    folder,
    { model: [LOOK, DONE] },
    "--record",
    folder.cassette,
    ...asked,
  );
  assertEquals({ code: recorded.code, output: recorded.host.output }, {
    code: 0,
    output: "Milk and eggs.\n",
  });
  for (const _time of [1, 2]) {
    const replayed = await run(folder, NOBODY, "--replay", folder.cassette, ...asked);
    assertEquals(replayed.code, 0);
    assertEquals(replayed.host.outputBytes, recorded.host.outputBytes);
    assertEquals(replayed.host.requests, []);
    assertMatch(replayed.host.messages, /• read_file notes.txt\n {2}2 lines\n2 turns/);
  }
  assert(!folder.read("run.jsonl").includes("sk-ant-test"));
});

Deno.test("a recording is replayed on other days as on its own", async () => {
  await using folder = await workplace();
  await run(folder, { model: [DONE] }, "--record", folder.cassette, "Hello");
  const today = new Date().toISOString().slice(0, 10);
  const text = folder.read("run.jsonl");
  assertStringIncludes(text, today);
  const older = text.replaceAll(today, "2001-02-03")
    .replace(/"recordedAt":\d+/, `"recordedAt":${Date.UTC(2001, 1, 3)}`);
  folder.write("run.jsonl", older);
  const { code, host } = await run(folder, NOBODY, "--replay", folder.cassette, "Hello");
  assertEquals({ code, output: host.output }, { code: 0, output: "Milk and eggs.\n" });
});

Deno.test("another prompt than the recorded one ends the run with what differs", async () => {
  await using folder = await workplace();
  await run(folder, { model: [DONE] }, "--record", folder.cassette, "What is new?");
  const { code, host } = await run(folder, NOBODY, "--replay", folder.cassette, "What is old?");
  assertEquals({ code, output: host.output }, { code: 1, output: "" });
  assertStringIncludes(host.messages, 'was  "What is new?"');
  assertStringIncludes(host.messages, 'is   "What is old?"');
});

Deno.test("a run that fails is recorded as well", async () => {
  await using folder = await workplace();
  const refused = { status: 401, body: '{"error":{"message":"invalid x-api-key"}}' };
  const recorded = await run(folder, { model: [refused] }, "--record", folder.cassette, "Hello");
  const replayed = await run(folder, NOBODY, "--replay", folder.cassette, "Hello");
  assertEquals([recorded.code, replayed.code], [3, 3]);
  assertEquals(replayed.host.messages, recorded.host.messages);
});

Deno.test("as a process, against a server that is gone afterwards, the output is the same", async () => {
  await using folder = await workplace();
  const cwd = `${folder.path}/work`;
  const recorded = await (async () => {
    await using provider = mockProvider(LOOK, DONE);
    const args = ["run", ...MODEL, "--base-url", provider.url];
    const env = { ANTHROPIC_API_KEY: "sk-ant-a-real-key" };
    const end = await swink([...args, "--record", folder.cassette, "What?"], { cwd, env });
    return { args, end };
  })();
  assertEquals([recorded.end.code, recorded.end.output], [0, "Milk and eggs.\n"]);
  const replayed = await swink([...recorded.args, "--replay", folder.cassette, "What?"], { cwd });
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
      '--replay: There is no cassette "/nowhere/a.jsonl"',
    ],
  ] as const
) {
  Deno.test(`${what} ends with 2 and says what is wrong`, async () => {
    await using folder = await workplace();
    const { code, host } = await run(folder, NOBODY, ...args, "Hello");
    assertEquals({ code, output: host.output }, { code: 2, output: "" });
    assertStringIncludes(host.messages, `swink: ${message}`);
  });
}

Deno.test("a replay of a file that is no recording, and a recording over one, leave it alone", async () => {
  await using folder = await workplace();
  const notes = `${folder.path}/work/notes.txt`;
  const replayed = await run(folder, NOBODY, "--replay", notes, "Hello");
  assertEquals(replayed.code, 2);
  assertStringIncludes(replayed.host.messages, "is not a cassette");
  const recorded = await run(folder, { model: [DONE] }, "--record", notes, "Hello");
  assertEquals(recorded.code, 1);
  assertStringIncludes(recorded.host.messages, "is not a cassette and is not written over");
  assertEquals(recorded.host.requests, []);
  assertEquals(folder.read("work/notes.txt"), "milk\neggs\n");
});
