/**
 * Rules that the user saves when a conversation or a run asks about a call.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../../cli/main.ts";
import { lockFile } from "../../../src/platform/file_lock.ts";
import { createFakeHost, scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "../temporary_directory.ts";
import { typeConversation } from "./plain_conversation.ts";

const CONFIG = ".config/swink/config.toml";

function bash(...commands: readonly string[]) {
  return [
    ...commands.map((command) => scriptedReply(scriptedCall("bash", { command }))),
    scriptedReply("Done."),
  ];
}

function write(...paths: readonly string[]) {
  return [
    ...paths.map((path) => scriptedReply(scriptedCall("write_file", { path, content: "1\n" }))),
    scriptedReply("Done."),
  ];
}

function read(home: TemporaryDirectory): string | undefined {
  try {
    return home.read(CONFIG);
  } catch {
    return undefined;
  }
}

function countQuestions(transcript: string): number {
  return transcript.split("Allow? ").length - 1;
}

Deno.test("saved rule: s saves a rule for exactly the command, which holds in this session and in later ones", async () => {
  const model = bash("touch one", "touch one", "touch one two", "touch one; rm -rf ..");
  await using conversation = await typeConversation({
    model,
    typed: ["Work", "s", "y", "n", "n", "#approve", "/quit"],
  });
  const { home, transcript } = conversation;
  assertStringIncludes(
    transcript,
    `
? bash touch one
  risk: execute
  Allow? [y]es / [a]lways bash / [p]refix "touch one" / [s]ave a rule / [e]dit / [n]o / no with [r]eason: s
? Rule: allow bash(touch one)
  Later sessions run this command without a question, in every
  directory and with any input, also where nothing confines it.
  Save? [y]es / [n]o: y
`,
  );
  assertStringIncludes(
    transcript,
    `Saved in HOME/${CONFIG}\nnote: swink rules remove allow 'bash(touch one)' removes it\n`,
  );
  assertEquals(countQuestions(transcript), 3);
  assertStringIncludes(transcript, "trusted in this session: nothing\n");
  assertEquals(read(home), 'allowed_tools = [ "bash(touch one)" ]\n');
  await using next = await typeConversation({
    home,
    model: bash("touch one", "touch two"),
    typed: ["Work", "n", "/quit"],
  });
  assertEquals(countQuestions(next.transcript), 1);
  // As the message states.
  const host = createFakeHost({ env: { HOME: home.path } });
  assertEquals(await main(["rules", "remove", "allow", "bash(touch one)"], host), 0);
  assertEquals(read(home)?.trim(), "");
});

Deno.test("saved rule: one for a file tool approves all of its calls, as always does", async () => {
  await using conversation = await typeConversation({
    model: write("a.txt", "b.txt"),
    typed: ["Work", "s", "y", "#approve", "/quit"],
  });
  const { home, transcript } = conversation;
  assertStringIncludes(
    transcript,
    "  Later sessions run all calls of write_file without a question,\n  in every directory.\n",
  );
  assertEquals(countQuestions(transcript), 1);
  assertStringIncludes(transcript, "trusted in this session: write_file\n");
  assertEquals(read(home), 'allowed_tools = [ "write_file" ]\n');
});

Deno.test("saved rule: the question breaks no word on a narrow terminal that only writes lines", async () => {
  await using conversation = await typeConversation({
    model: bash("touch one"),
    typed: ["Work", "s", "n", "n", "/quit"],
    columns: 40,
  });
  assertStringIncludes(
    conversation.transcript,
    `
  Later sessions run this command
  without a question, in every directory
  and with any input, also where nothing
  confines it.
`,
  );
});

Deno.test("saved rule: nothing is saved without a yes, and the question is asked again", async () => {
  await using conversation = await typeConversation({
    model: bash("touch one"),
    typed: ["Work", "s", "n", "y", "/quit"],
  });
  const { home, transcript } = conversation;
  assertEquals([countQuestions(transcript), read(home)], [2, undefined]);
  await using closed = await typeConversation({ model: bash("touch one"), typed: ["Work", "s"] });
  assertStringIncludes(closed.transcript, "Refused: you said no.");
  assertEquals(read(closed.home), undefined);
});

Deno.test("saved rule: a file that cannot be changed is reported, nothing is saved, and the call runs once", async () => {
  const breakFile = [
    (path: string) => Deno.mkdirSync(path, { recursive: true }),
    (path: string) => Deno.writeTextFileSync(path, "model = \n"),
  ];
  for (const change of breakFile) {
    await using conversation = await typeConversation({
      files: { ".config/swink/x": "" },
      model: bash("touch one", "touch one"),
      typed: [
        "Work",
        ({ home }) => {
          change(`${home.path}/${CONFIG}`);
          return "s";
        },
        "y",
        "n",
        "/quit",
      ],
    });
    const { home, transcript } = conversation;
    const text = transcript.replaceAll(/\n +/g, " ");
    assertStringIncludes(text, "error: The rule is not saved, and the call runs once: ");
    assertStringIncludes(text, `HOME/${CONFIG}`);
    assertEquals(countQuestions(transcript), 2);
    assertEquals(home.read("p/one"), "");
    assert(!read(home)?.includes("touch"));
  }
});

Deno.test("saved rule: none is offered where no later session would have it, in a project that is not trusted, and in plan mode", async () => {
  const isOffered = async (options: Partial<Parameters<typeof typeConversation>[0]>) => {
    const typed = ["Work", "n", "/quit"];
    await using asked = await typeConversation({ model: write("a"), typed, ...options });
    assertStringIncludes(asked.transcript, "Allow? ");
    return asked.transcript.includes("[s]ave a rule");
  };
  const files = { "p/AGENTS.md": "Be brief.\n" };
  assertEquals(await isOffered({}), true);
  assertEquals(await isOffered({ args: ["--bare"] }), false);
  assertEquals(await isOffered({ env: { HOME: "" } }), false);
  assertEquals(await isOffered({ env: { SWINK_ALLOWED_TOOLS: "read_file" } }), false);
  assertEquals(await isOffered({ files, args: ["--trust"] }), true);
  assertEquals(await isOffered({ files, typed: ["n", "Work", "n", "/quit"] }), false);
  const secret = bash("cat .env");
  assertEquals(await isOffered({ args: ["--plan"], model: secret }), false);
});

Deno.test("saved rule: swink run saves one, and does not ask about the call again", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const host = createFakeHost({
    env: { HOME: home.path, ANTHROPIC_API_KEY: "k" },
    terminals: ["input", "output", "messages"],
    answers: ["s", "y"],
    model: bash("touch one", "touch one"),
  });
  assertEquals(await main(["run", "--cwd", `${home.path}/p`, "Work"], host), 0);
  const { messages } = host;
  assertStringIncludes(messages, "  Allow? [y]es / [n]o / [a]lways bash / [s]ave a rule: ");
  assertStringIncludes(messages, "  swink rules remove allow 'bash(touch one)' removes it\n");
  assertEquals(countQuestions(messages), 1);
  assertEquals(read(home), 'allowed_tools = [ "bash(touch one)" ]\n');
});

Deno.test("saved rule: the question about the rule is wrapped between words in a narrow terminal", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const host = createFakeHost({
    env: { HOME: home.path, ANTHROPIC_API_KEY: "k" },
    terminals: ["input", "output", "messages"],
    columns: 40,
    answers: ["s", "n", "n"],
    model: bash("touch one"),
  });
  await main(["run", "--cwd", `${home.path}/p`, "Work"], host);
  assertStringIncludes(
    host.messages,
    `
  Later sessions run this command
  without a question, in every directory
  and with any input, also where nothing
  confines it.
`,
  );
});

Deno.test("saved rule: an interrupt ends the wait for a file that another program changes, and nothing is saved", async () => {
  let lock: Disposable | undefined;
  await using conversation = await typeConversation({
    files: { ".config/swink/x": "" },
    model: bash("touch one"),
    typed: [
      "Work",
      ({ home }) => {
        lock = lockFile(`${home.path}/${CONFIG}.lock`);
        return "s";
      },
      ({ host }) => {
        // After the answer, for whose effect nothing shows that the program waits.
        setTimeout(() => host.sendSignal("SIGINT"), 50);
        return "y";
      },
      "/quit",
    ],
  });
  const { home, transcript } = conversation;
  assert(lock);
  lock[Symbol.dispose]();
  assertStringIncludes(transcript, "aborted; changes made so far are kept\n");
  assert(!transcript.includes("not saved"), transcript);
  assertEquals([countQuestions(transcript), read(home)], [1, undefined]);
});
