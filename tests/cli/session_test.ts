/**
 * Runs that are saved as sessions and continued.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { Agent } from "../../mod.ts";
import { FileSessionStore, openSession } from "../../src/memory/mod.ts";
import { scriptedStream } from "../../src/testing/mod.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const SESSIONS = ".local/state/swink/sessions";

/** Runs `swink run` in the directory `p` of a home directory. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  { directory = "p", ...options }: FakeHostOptions & { readonly directory?: string } = {},
) {
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    ...options,
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path, ...options.env },
  });
  const cwd = ["--cwd", `${home.path}/${directory}`];
  const code = await main(["run", ...cwd, "-ojson", ...args], host);
  const [request] = host.requests;
  const body = request && JSON.parse(request.body);
  return {
    code,
    messages: host.messages.replaceAll(home.path, "HOME"),
    prompts: body?.messages.map(getText) ?? [],
    model: body?.model,
    result: host.output === "" ? undefined : JSON.parse(host.output),
  };
}

/** Returns the text of a message of a request, with the role of the model marked. */
function getText(
  { role, content }: { readonly role: string; readonly content: string | { text?: string }[] },
): string {
  const text = typeof content === "string" ? content : content.map(({ text }) => text).join("");
  return role === "user" ? text : `${role}: ${text}`;
}

function listSessions(home: TemporaryDirectory) {
  return new FileSessionStore({ directory: `${home.path}/${SESSIONS}` }).list();
}

Deno.test("swink run: saves each run as a session of its directory", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "q/x": "" });
  const { result } = await run(home, ["First"]);
  await run(home, ["Other"], { directory: "q" });
  const [last, first] = await listSessions(home);
  assertEquals([first?.id, first?.firstPrompt, first?.cwd], [
    result.sessionId,
    "First",
    `${home.path}/p`,
  ]);
  assertEquals([last?.firstPrompt, last?.cwd], ["Other", `${home.path}/q`]);
  assertMatch(result.sessionId, /^\d{8}-\d{6}-\w+$/);
});

Deno.test("swink run --continue: continues the last session of the directory", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "q/x": "" });
  const { result } = await run(home, ["First"]);
  await run(home, ["Other"], { directory: "q" });
  const next = await run(home, ["-c", "Second"]);
  assertEquals(next.prompts, ["First", "assistant: Done.", "Second"]);
  assertEquals(next.result.sessionId, result.sessionId);
  assertEquals(next.result.messages.length, 2);
});

Deno.test("swink run --continue: names the messages of the session that the model gets, too", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { result } = await run(home, ["First"]);
  const store = new FileSessionStore({ directory: `${home.path}/${SESSIONS}` });
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([]) });
  {
    await using _session = await openSession(store, { id: result.sessionId }, agent);
    agent.steer("Be\nbrief");
    for (const number of [1, 2, 3]) agent.followUp(`Then ${number} ${"x".repeat(40)}`);
  }
  const model = ["a", "b", "c", "d"].map((text) => scriptedReply(text));
  const next = await run(home, ["-c", "Second"], { model });
  assertEquals(next.prompts, ["First", "assistant: Done.", "SecondBe\nbrief"]);
  const named = `Then 1 ${"x".repeat(32)}…`;
  assertStringIncludes(
    next.messages.replaceAll(/\n */g, " "),
    `warning: the model also gets what waited in the session: "Be brief", "${named}", ` +
      `"${named.replace("1", "2")}", 1 more`,
  );
  assertEquals((await run(home, ["-c", "Third"])).messages.includes("waited"), false);
});

Deno.test("swink run --resume: takes an id or its beginning", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "q/x": "" });
  for (const id of ["review-1", "review-2", "plan"]) await run(home, ["--session-id", id, id]);
  assertEquals((await run(home, ["-r", "pl", "Next"], { directory: "q" })).prompts[0], "plan");
  assertEquals((await run(home, ["--resume", "review-2", "Next"])).prompts[0], "review-2");
  const ambiguous = await run(home, ["-r", "rev", "Next"]);
  assertEquals(ambiguous.code, 2);
  assertMatch(
    ambiguous.messages,
    /^swink: Several sessions begin with "rev": review-\d, review-\d\n/,
  );
  assertEquals(await run(home, ["-r", "none", "Next"]), {
    ...ambiguous,
    messages: 'swink: There is no session "none"\n' +
      "List the sessions of all directories with: swink sessions list --all\n",
  });
  assertEquals((await run(home, ["-c", "Next"], { directory: "p/.." })).code, 3);
});

const TERMINAL = ["input", "output", "messages"] as const;

Deno.test("swink run --resume: without an id, asks which session of the directory to continue", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "q/x": "" });
  for (const id of ["a", "b"]) await run(home, ["--session-id", id, `Prompt of ${id}\x1b[2J`]);
  await run(home, ["Elsewhere"], { directory: "q" });
  const last = await run(home, ["Next", "-r"], { terminals: TERMINAL, answers: ["1"] });
  assertEquals([last.code, last.prompts[0]], [0, "Prompt of b\x1b[2J"]);
  assertStringIncludes(
    last.messages,
    "? Sessions, the last one first:\n" +
      "  1  now  2 messages  Prompt of b\n  2  now  2 messages  Prompt of a\n",
  );
  assertStringIncludes(last.messages, "  Session? [1]–[2] / [q]uit: 1\n");
  await Deno.writeTextFile(`${home.path}/.local/state/swink/sessions/broken.jsonl`, "none\n");
  const quit = await run(home, ["Next", "-r"], { terminals: TERMINAL, answers: ["q"] });
  assertStringIncludes(
    quit.messages,
    "\n  1 session cannot be opened: swink sessions list --all\n  Session? ",
  );
  const older = await run(home, ["--resume", "--fork", "Next"], {
    terminals: TERMINAL,
    answers: ["2"],
  });
  assertEquals([older.code, older.prompts], [0, [
    "Prompt of a\x1b[2J",
    "assistant: Done.",
    "Next",
  ]]);
  assertEquals(["a", "b"].includes(older.result.sessionId), false);
});

Deno.test("swink run --resume: words with blanks are the prompt, not an id", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["First"]);
  const options = { terminals: TERMINAL, answers: ["1"] };
  assertEquals((await run(home, ["-r", "Go on with it"], options)).prompts.length, 3);
  assertEquals((await run(home, ["-r", "--", "next"], options)).prompts.at(-1), "next");
  const empty = await run(home, ["-r", "", "Next"], options);
  assertEquals([empty.code, empty.messages], [
    2,
    "swink: The value of -r is empty: -r [id]\nSee: swink run --help\n",
  ]);
});

Deno.test("swink run --resume: offers nine sessions at a time", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  for (let index = 0; index < 11; index++) await run(home, [`Prompt ${index}`]);
  const options = { terminals: TERMINAL, answers: ["o", "2"] };
  const { prompts, messages } = await run(home, ["-r", "--fork", "Next"], options);
  assertEquals(prompts[0], "Prompt 0");
  assertStringIncludes(messages, "Session? [1]–[9] / [o]lder / [q]uit: older\n");
  assertStringIncludes(
    messages,
    "  2  now  2 messages  Prompt 0\n  Session? [1]–[2] / [q]uit: 2\n",
  );
});

Deno.test("swink run --resume: ends without a run after quit, Ctrl+D and a signal", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["First"]);
  for (const answer of ["q", "\x04", ""]) {
    const result = await run(home, ["-r", "Next words"], {
      terminals: TERMINAL,
      answers: [answer],
    });
    assertEquals([result.code, result.prompts], [130, []], JSON.stringify(answer));
  }
});

Deno.test("swink run --resume: without a terminal, lists the sessions to select from", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const none = await run(home, ["-r", "Next words"]);
  assertEquals([none.code, none.messages], [
    2,
    "swink: There is no session in HOME/p\nList those of all directories with: swink sessions list --all\n",
  ]);
  for (let index = 0; index < 11; index++) {
    await run(home, ["--session-id", `s${index}`, `Prompt ${index}`]);
  }
  const { code, messages, prompts } = await run(home, ["-r", "Next words"]);
  assertEquals([code, prompts], [2, []]);
  const lines = messages.split("\n");
  assertEquals([lines.slice(0, 3), lines.slice(-3)], [[
    "swink: --resume needs the id of a session, because there is no terminal to choose one",
    "The last sessions of this directory:",
    "s10  now  2 messages  Prompt 10",
  ], ["s1   now  2 messages  Prompt 1", "All sessions: swink sessions list", ""]]);
  const homeless = await run(home, ["-r", "Next words"], { env: { HOME: "" } });
  assertEquals([homeless.code, homeless.messages.split("\n")[0]], [
    3,
    "swink: There is no home directory for sessions",
  ]);
});

Deno.test("swink run --fork: continues in a copy", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "a", "First"]);
  const fork = await run(home, ["-c", "--fork", "Second"]);
  assertEquals(fork.prompts, ["First", "assistant: Done.", "Second"]);
  const sessions = await listSessions(home);
  assertEquals(sessions.map(({ id, messages }) => [id === "a", messages]), [[false, 4], [true, 2]]);
  assertEquals(sessions[0]?.parent?.sessionId, "a");
  const invalid = await run(home, ["--fork", "x"]);
  assertEquals([invalid.code, invalid.messages], [
    2,
    "swink: --fork copies a session: it requires --continue or --resume\n",
  ]);
});

Deno.test("swink run --session-id: creates the session once", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "auth0|../1", "First"]);
  const { prompts, result } = await run(home, ["--session-id", "auth0|../1", "Second"]);
  assertEquals([prompts.length, result.sessionId], [3, "auth0|../1"]);
  assertEquals((await run(home, ["--session-id", "x".repeat(201), "x"])).code, 2);
});

Deno.test("swink run --session-id: of two runs that create a session at once, one fails before its first request", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const runs = await Promise.all(
    [1, 2, 3].map((index) => run(home, ["--session-id", "a", `${index}`])),
  );
  const [done, ...refused] = runs.toSorted((one, other) => one.code - other.code);
  assertEquals([done?.code, done?.result.sessionId], [0, "a"]);
  for (const { code, messages, prompts } of refused) {
    assertEquals([code, prompts], [3, []]);
    assertMatch(
      messages,
      /^swink: The session "a" is open in process \d+ since .*: close it there\nWait for the end of that run, or choose another --session-id\.\n$/,
    );
  }
});

Deno.test("swink run --resume: a complete id precedes ids that begin with it", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  for (const id of ["nightly", "nightly-2"]) await run(home, ["--session-id", id, `In ${id}`]);
  const { code, prompts } = await run(home, ["--resume", "nightly", "Next"]);
  assertEquals([code, prompts[0]], [0, "In nightly"]);
});

Deno.test("swink run --no-session: saves nothing", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { code, result } = await run(home, ["--no-session", "First"]);
  assertEquals([code, result.sessionId], [0, null]);
  assertEquals(await listSessions(home), []);
  assertEquals((await run(home, ["--no-session", "-c", "x"])).code, 2);
});

Deno.test("swink run --continue: the model of the session precedes the configuration, and -m both", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["-m", "anthropic/first", "First"]);
  const env = { SWINK_MODEL: "anthropic/other" };
  assertEquals((await run(home, ["-c", "x"], { env })).model, "first");
  assertEquals((await run(home, ["-c", "-m", "anthropic/last", "x"], { env })).model, "last");
  assertEquals((await run(home, ["-c", "x"], { env })).model, "last");
});

Deno.test("swink run --continue: a run that was killed in a command continues with the next prompt", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const call = scriptedReply("Now.", scriptedCall("write_file", { path: "y", content: "1" }));
  await run(home, ["--approve-all", "--session-id", "a", "First"], {
    model: [call, scriptedReply("Done.")],
  });
  const file = `${home.path}/${SESSIONS}/a.jsonl`;
  const lines = (await Deno.readTextFile(file)).split("\n");
  const started = lines.findIndex((line) => line.includes('"tool_started"'));
  await Deno.writeTextFile(file, lines.slice(0, started + 1).join("\n") + "\n");
  await Deno.remove(`${home.path}/${SESSIONS}/a.index`).catch(() => {});
  const { code, prompts, messages } = await run(home, ["-c", "Go on"]);
  assertEquals([code, messages], [0, ""], messages);
  assertEquals([prompts[0], prompts.at(-1)?.endsWith("Go on")], ["First", true]);
});

Deno.test("swink run: a session that is open elsewhere is not continued, but can be copied", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "a", "First"]);
  const store = new FileSessionStore({ directory: `${home.path}/${SESSIONS}` });
  await using _session = await store.open("a");
  const { code, messages } = await run(home, ["-c", "Second"]);
  assertEquals(code, 3);
  assertStringIncludes(messages, 'session "a"');
  assertStringIncludes(messages, "Continue in a copy: add --fork.\n");
  assertEquals((await run(home, ["-c", "--fork", "Second"])).code, 0);
});

Deno.test("swink run: works without a home directory, and warns if it cannot write there", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "", "state": "a file" });
  const without = await run(home, ["First"], { env: { HOME: "" } });
  assertEquals([without.code, without.messages, without.result.sessionId], [0, "", null]);
  const readOnly = await run(home, ["First"], { env: { XDG_STATE_HOME: `${home.path}/state` } });
  assertEquals([readOnly.code, readOnly.result.sessionId], [0, null]);
  assert(readOnly.messages.startsWith("warning: the session is not saved: "), readOnly.messages);
  assertEquals((await run(home, ["-c", "x"], { env: { HOME: "" } })).code, 3);
});

Deno.test("swink run: a damaged session is continued with a warning", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "a", "First"]);
  const file = `${home.path}/${SESSIONS}/a.jsonl`;
  await Deno.writeTextFile(file, "garbage\n", { append: true });
  const { code, messages, prompts } = await run(home, ["-c", "Second"]);
  assertEquals([code, prompts.length], [0, 3]);
  assertEquals(messages, "warning: 1 line of the session could not be read\n");
});

Deno.test("swink run: the warning about a damaged session counts the lines that could not be read, not those after them", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "a", "First"]);
  const file = `${home.path}/${SESSIONS}/a.jsonl`;
  const lines = (await Deno.readTextFile(file)).split("\n");
  await Deno.writeTextFile(file, lines.with(3, "garbage").join("\n"));
  const { messages } = await run(home, ["-c", "Second"]);
  assertStringIncludes(messages, "warning: 1 line of the session could not be read\n");
});

Deno.test("swink run -c: warns if a later session cannot be opened, whose directory is not known", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "a", "First"]);
  await run(home, ["--session-id", "b", "Second"]);
  const file = `${home.path}/${SESSIONS}/b.jsonl`;
  const text = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, text.replace('"version":1', '"version":99'));
  const { result, messages } = await run(home, ["-c", "Third"]);
  assertEquals(result.sessionId, "a");
  assertStringIncludes(
    messages,
    "warning: a later session, which may be of this directory, cannot be opened: swink sessions list --all\n",
  );
  assertEquals((await run(home, ["-c", "Fourth"])).messages, "");
});

Deno.test("swink run -c: warns if the first line of a later session is damaged, which has its directory", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  await run(home, ["--session-id", "a", "First"]);
  await run(home, ["--session-id", "b", "Second"]);
  const file = `${home.path}/${SESSIONS}/b.jsonl`;
  const text = await Deno.readTextFile(file);
  await Deno.writeTextFile(file, text.replace('{"type":"session"', '"session"'));
  const { result, messages } = await run(home, ["-c", "Third"]);
  assertEquals(result.sessionId, "a");
  assertStringIncludes(
    messages,
    "warning: the directory of a later session, which may be this one, is not known: swink sessions list --all\n",
  );
});

Deno.test("swink run: 50 runs in one directory at the same time are 50 complete sessions", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const prompts = Array.from({ length: 50 }, (_, index) => `Prompt ${index}`);
  const results = await Promise.all(prompts.map((prompt) => run(home, [prompt])));
  assertEquals(results.map(({ code }) => code), prompts.map(() => 0));
  const sessions = await listSessions(home);
  assertEquals(sessions.map(({ firstPrompt }) => firstPrompt).sort(), prompts.toSorted());
  assertEquals(new Set(results.map(({ result }) => result.sessionId)).size, 50);
});

Deno.test("swink run: a session that cannot be written any more is reported once, with the reason", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "1\n" });
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("read_file", { path: "a.txt" })), scriptedReply("Done.")],
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path },
  });
  const directory = `${home.path}/${SESSIONS}`;
  host.onMessage((text) => {
    if (!text.includes("read_file")) return;
    for (const { name } of Deno.readDirSync(directory)) {
      if (name.endsWith(".jsonl")) Deno.removeSync(`${directory}/${name}`);
    }
  });
  await main(["run", "--cwd", `${home.path}/p`, "Read"], host);
  assertEquals(host.messages.match(/Cannot write the session/g)?.length, 1, host.messages);
  assert(!host.messages.includes("the run failed"), host.messages);
});
