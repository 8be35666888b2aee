/**
 * Conversations that are saved and continued.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../../cli/main.ts";
import { FileSessionStore } from "../../../src/memory/mod.ts";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createFakeHost } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { typeConversation } from "./plain_conversation.ts";

/** Replies of a model that writes a file. */
const WRITES_FILE = [
  scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "1\n" })),
  scriptedReply("Done."),
];
const HELLO = [scriptedReply("Hello!")];

Deno.test("conversation: -c continues the last one, and shows its end", async () => {
  await using first = await typeConversation({
    files: { "p/a.txt": "1\n" },
    model: [
      scriptedReply("I read.", scriptedCall("read_file", { path: "a.txt" })),
      scriptedReply(Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n\n")),
      ...Array.from({ length: 3 }, () => scriptedReply("Yes.")),
    ],
    typed: ["Read", "One", "Two", "Three", "/quit"],
  });
  await using second = await typeConversation({
    home: first.home,
    args: ["-c"],
    model: HELLO,
    typed: ["Four", "/quit"],
  });
  assertStringIncludes(
    second.transcript,
    `… 4 earlier messages; /tree lists the prompts
you: One
assistant: Yes.
you: Two
assistant: Yes.
you: Three
assistant: Yes.
> Four
assistant: Hello!
`,
  );
  assertEquals(second.requests[0]?.messages.length, 11);
});

Deno.test("conversation: -r continues one by its id, --fork in a copy, and runs share the sessions", async () => {
  await using first = await typeConversation({
    args: ["--session-id", "talk"],
    model: HELLO,
    typed: ["One", "/quit"],
  });
  const { home } = first;
  const host = createFakeHost({
    model: HELLO,
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  assertEquals(await main(["run", "--cwd", `${home.path}/p`, "-r", "talk", "Two"], host), 0);
  await using second = await typeConversation({
    home,
    args: ["-r", "ta", "--fork"],
    model: HELLO,
    typed: ["Three", "/quit"],
  });
  assertEquals(second.requests[0]?.messages.length, 5);
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  assertEquals((await store.list()).map(({ messages }) => messages), [6, 4]);
});

Deno.test("conversation: --no-session saves nothing, and one without a prompt is not kept", async () => {
  await using unsaved = await typeConversation({
    args: ["--no-session"],
    model: HELLO,
    typed: ["One", "/reset", "/fork", "/rewind", "/quit"],
  });
  const { home, outputs } = unsaved;
  assertEquals(outputs[2], "error: There is no saved session to copy yet\n");
  assertEquals(outputs[3], "error: This conversation is not saved\n#copy all copies it.\n");
  await using empty = await typeConversation({ home, typed: ["/plan", "#approve on", "/quit"] });
  assertEquals(empty.code, 0);
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  assertEquals(await store.list(), []);
});

Deno.test("conversation: one that is open elsewhere is not continued, but can be copied", async () => {
  await using first = await typeConversation({
    args: ["--session-id", "talk"],
    model: HELLO,
    typed: ["One", "/quit"],
  });
  const { home } = first;
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  await using _open = await store.open("talk");
  await using second = await typeConversation({
    home,
    typed: ["/resume talk", "/quit"],
  });
  assertStringIncludes(
    second.outputs[0] ?? "",
    "Continue in a copy: leave, and start swink -r talk --fork",
  );
});

Deno.test("conversation: a run that was aborted is continued with what was done", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [
      scriptedReply("I write.", scriptedCall("write_file", { path: "a.txt", content: "1\n" })),
      { ...HELLO[0], blocks: ["Hello!"] } as typeof HELLO[0],
    ],
    typed: ["Write", "/quit"],
  });
  await using next = await typeConversation({
    home: conversation.home,
    args: ["-c"],
    model: HELLO,
    typed: ["Go on", "/quit"],
  });
  assertStringIncludes(JSON.stringify(next.requests[0]?.messages), "Created a.txt");
});

Deno.test("conversation: deleting a session deletes its file changes", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all", "--session-id", "talk"],
    model: WRITES_FILE,
    typed: ["Write", "/quit"],
  });
  const { home } = conversation;
  const changes = `${home.path}/.local/state/swink/changes`;
  assertEquals([...Deno.readDirSync(changes)].length, 1);
  const host = createFakeHost({ env: { HOME: home.path } });
  assertEquals(await main(["sessions", "delete", "--yes", "talk"], host), 0);
  assertEquals([...Deno.readDirSync(changes)].length, 0);
});

Deno.test("conversation: commands of the user and an undo are saved at once, also for a copy", async () => {
  await using first = await typeConversation({
    args: ["--approve-all", "--session-id", "talk"],
    model: WRITES_FILE,
    typed: ["Write", "!echo ran", "/undo", "/fork", "/quit"],
  });
  const { home } = first;
  const store = new FileSessionStore({ directory: `${home.path}/.local/state/swink/sessions` });
  assertEquals((await store.list()).map(({ messages }) => messages), [6, 6]);
  await using next = await typeConversation({
    home,
    args: ["-r", "talk"],
    model: HELLO,
    typed: ["Go on", "/quit"],
  });
  const messages = JSON.stringify(next.requests[0]?.messages);
  assertStringIncludes(messages, "echo ran");
  assertStringIncludes(messages, "I have undone your changes of these files: a.txt");
  await using read = await store.open("talk", { access: "read" });
  const path = await read.path({ types: ["message"] });
  assertEquals(path.length, 8);
});

Deno.test("conversation: a command of the user before the first prompt is saved at once, and lists show it as it was typed", async () => {
  await using first = await typeConversation({ typed: ["!echo ran", "/quit"] });
  const { home } = first;
  await using next = await typeConversation({
    home,
    args: ["-c"],
    model: HELLO,
    typed: ["#sessions", "Go on", "/quit"],
  });
  assertStringIncludes(next.outputs[0] ?? "", "1 message  $0.00  !echo ran\n");
  assertStringIncludes(JSON.stringify(next.requests[0]?.messages), "echo ran");
});

Deno.test("#sessions, /resume: report that there are more sessions than they list", async () => {
  await using home = await createTemporaryDirectory({ "p/a.txt": "" });
  const directory = `${home.path}/.local/state/swink/sessions`;
  const store = new FileSessionStore({ directory });
  const cwd = await Deno.realPath(`${home.path}/p`);
  for (let index = 0; index < 21; index++) {
    await using session = await store.create({ id: `talk-${index}`, cwd });
    const content = [{ type: "text", text: "Hello" }] as const;
    session.append({ type: "message", message: { role: "user", content, timestamp: 0 } });
  }
  await using conversation = await typeConversation({
    home,
    typed: ["#sessions", "/resume", "", "#sessions Hello", "/quit"],
  });
  const { outputs } = conversation;
  const end = /^20 {2}talk-.*\nThere are older ones: #sessions WORDS finds them\n/m;
  assertMatch(outputs[0] ?? "", end);
  assertMatch(outputs[1] ?? "", end);
});

Deno.test("conversation: a copy with which no conversation could start is removed", async () => {
  await using first = await typeConversation({
    args: ["--session-id", "talk", "--approve-all"],
    model: WRITES_FILE,
    typed: ["Write", "/quit"],
  });
  const { home } = first;
  const host = createFakeHost({ env: { HOME: home.path } });
  const args = ["run", "--cwd", `${home.path}/p`, "-r", "talk", "--fork", "-m", "none/x", "Next"];
  assertEquals(await main(args, host), 3);
  const state = `${home.path}/.local/state/swink`;
  const store = new FileSessionStore({ directory: `${state}/sessions` });
  assertEquals((await store.list()).map(({ id }) => id), ["talk"]);
  assertEquals([...Deno.readDirSync(`${state}/changes`)].length, 1);
});

Deno.test("conversation: the numbers of /resume are those of the list that was shown", async () => {
  await using first = await typeConversation({
    args: ["--session-id", "older"],
    model: HELLO,
    typed: ["One", "/quit"],
  });
  const { home } = first;
  await using _second = await typeConversation({
    home,
    args: ["--session-id", "newer"],
    model: [scriptedReply("Hi!")],
    typed: ["Two", "/quit"],
  });
  const sessions = `${home.path}/.local/state/swink/sessions`;
  await using third = await typeConversation({
    home,
    typed: [
      "/resume",
      () => {
        Deno.removeSync(`${sessions}/newer.jsonl`);
        return "2";
      },
      "/quit",
    ],
  });
  assertStringIncludes(third.outputs[1] ?? "", "you: One\n");
});

Deno.test("conversation: a copy can undo the file changes before it", async () => {
  await using first = await typeConversation({
    args: ["--approve-all", "--session-id", "talk"],
    files: { "p/a.txt": "1\n" },
    model: [
      scriptedReply(scriptedCall("write_file", { path: "b.txt", content: "1\n" })),
      scriptedReply("Done."),
      scriptedReply(scriptedCall("write_file", { path: "c.txt", content: "1\n" })),
      scriptedReply("Done."),
    ],
    typed: ["Write b", "Write c", "/fork", "/undo", "/quit"],
  });
  const { home, outputs } = first;
  assertEquals(outputs[3], "removed c.txt\n/redo makes these changes again\n");
  await using second = await typeConversation({
    home,
    args: ["-r", "talk", "--fork"],
    typed: ["/undo", "/undo", "/quit"],
  });
  // The copy before has removed it.
  assertStringIncludes(second.outputs[0] ?? "", "left c.txt");
  assertEquals(second.outputs[1], "removed b.txt\n/redo makes these changes again\n");
});

Deno.test("conversation: after /undo the model does not read that a command of the user was its own", async () => {
  await using conversation = await typeConversation({
    model: HELLO,
    typed: ["!!echo 1 > a.txt", "/undo", "One", "/tree", "/quit"],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs[1], "removed a.txt\n/redo makes these changes again\n");
  const sent = JSON.stringify(requests[0]?.messages);
  assertStringIncludes(sent, "I have undone the changes of these files: a.txt");
  assertEquals(outputs[3], "1 * One\n");
});

Deno.test("conversation: /rewind and /tree skip commands of the user and undos", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [
      scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "1\n" })),
      scriptedReply("Done."),
      ...HELLO,
    ],
    typed: [
      "Write",
      "!echo ran",
      "/undo",
      "/tree",
      "/tree 1",
      "Two",
      "/rewind 2",
      "/tree",
      "/quit",
    ],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs[3], "1 * Write\n");
  assertStringIncludes(JSON.stringify(requests.at(-1)?.messages), "I have undone your changes");
  assertEquals(outputs[6], "Back before: Write\n");
  assertEquals(outputs[7], "1   Write\n2   Two\n");
});

Deno.test("conversation: after /rewind the model still knows which of its earlier changes are undone", async () => {
  const write = (path: string) => [
    scriptedReply(scriptedCall("write_file", { path, content: "1\n" })),
    scriptedReply("Done."),
  ];
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [...write("a.txt"), ...write("b.txt"), ...HELLO, ...HELLO],
    typed: ["Write a", "Write b", "/undo", "/undo", "/rewind", "Next", "/rewind", "Again", "/quit"],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs.slice(2, 5), [
    "removed b.txt\n/redo makes these changes again\n",
    "removed a.txt\n/redo makes these changes again\n",
    "Back before: Write b\n",
  ]);
  for (const request of requests.slice(-2)) {
    const sent = JSON.stringify(request.messages);
    assertStringIncludes(sent, "I have undone your changes of these files: a.txt");
    assertEquals(sent.includes("b.txt"), false, sent);
  }
});

Deno.test("conversation: after /tree the model still knows which of its earlier changes are undone", async () => {
  const write = (path: string) => [
    scriptedReply(scriptedCall("write_file", { path, content: "1\n" })),
    scriptedReply("Done."),
  ];
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [...write("a.txt"), ...write("b.txt"), ...HELLO, ...HELLO],
    typed: [
      ...["Write a", "Write b", "/undo", "/undo", "/tree 1", "Next"],
      ...["/tree 2", "/tree 1", "Again", "/tree", "/quit"],
    ],
  });
  const { outputs, requests } = conversation;
  for (const request of requests.slice(-2)) {
    const sent = JSON.stringify(request.messages);
    assertEquals(sent.split("I have undone your changes of these files: a.txt").length, 2, sent);
    assertEquals(sent.includes("b.txt"), false, sent);
  }
  assertEquals(outputs.at(-2), "1 * Write a\n2     Write b\n3     Next\n4 *   Again\n");
});

Deno.test("conversation: after /tree the model knows which undone changes were made again in another branch", async () => {
  const write = (path: string) => [
    scriptedReply(scriptedCall("write_file", { path, content: "1\n" })),
    scriptedReply("Done."),
  ];
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [...write("a.txt"), ...write("b.txt"), ...HELLO, ...HELLO, ...HELLO],
    typed: [
      ...["Write a", "Write b", "/undo", "/undo", "Here", "/tree 1", "There"],
      ...["/redo", "/redo", "/tree 3", "Again", "/quit"],
    ],
  });
  const [, there = "", again = ""] = conversation.requests.slice(-3)
    .map(({ messages }) => JSON.stringify(messages));
  const undone = "I have undone your changes of these files: ";
  const redone = "I have made your changes of these files again: ";
  assertStringIncludes(there, `${undone}a.txt`);
  assertEquals(there.includes(redone), false, there);
  assertStringIncludes(again, `${redone}a.txt`);
  assertStringIncludes(again, `${redone}b.txt`);
  assertEquals([again.split(undone).length, again.split(redone).length], [3, 3], again);
});

Deno.test("conversation: after /rewind the model knows that changes of another branch, which it has read as undone, were made again", async () => {
  const write = (path: string) => [
    scriptedReply(scriptedCall("write_file", { path, content: "1\n" })),
    scriptedReply("Done."),
  ];
  await using conversation = await typeConversation({
    now: Date.now,
    args: ["--approve-all"],
    model: [...write("a.txt"), ...write("b.txt"), ...HELLO, ...HELLO],
    typed: [
      ...["Write a", "Write b", "/tree 1", "/undo", "Here", "/redo", "/rewind", "Again"],
      "/quit",
    ],
  });
  const sent = JSON.stringify(conversation.requests.at(-1)?.messages);
  const undone = sent.indexOf("I have undone your changes of these files: b.txt");
  const redone = sent.indexOf("I have made your changes of these files again: b.txt");
  assertEquals([undone > 0, redone > undone], [true, true], sent);
});

Deno.test("conversation: after /tree the model knows which changes /rewind has undone in that branch", async () => {
  const write = (path: string) => [
    scriptedReply(scriptedCall("write_file", { path, content: "1\n" })),
    scriptedReply("Done."),
  ];
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [...write("a.txt"), ...write("b.txt"), ...HELLO, ...HELLO, ...HELLO],
    typed: [
      ...["Write a", "Write b", "/rewind 2", "y", "Another", "/tree 2", "Both"],
      ...["/tree 1", "First", "/quit"],
    ],
  });
  const [another = "", both = "", first = ""] = conversation.requests.slice(-3)
    .map(({ messages }) => JSON.stringify(messages));
  const note = "I have undone your changes of these files: ";
  assertEquals(another.split(note).length, 1, another);
  assertEquals(both.split(`${note}a.txt`).length, 2, both);
  assertEquals(both.split(`${note}b.txt`).length, 2, both);
  assertEquals(first.split(`${note}a.txt`).length, 2, first);
  assertEquals(first.split(note).length, 2, first);
});

Deno.test("conversation: /undo and /rewind separate the changes of a command of the user from those of a prompt", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: [...WRITES_FILE, ...WRITES_FILE],
    typed: [
      ...["Write", "!echo 2 > b.txt", "/undo", "/undo", "!!echo 2 > b.txt"],
      ...["Write again", "/rewind", "y", "/quit"],
    ],
  });
  const { outputs, home } = conversation;
  assertEquals(outputs.slice(2, 4), [
    "removed b.txt\n/redo makes these changes again\n",
    "removed a.txt\n/redo makes these changes again\n",
  ]);
  assertStringIncludes(outputs[7] ?? "", "removed a.txt\nBack before: Write again\n");
  assertEquals(home.read("p/b.txt"), "2\n");
});

Deno.test("conversation: /rewind, /tree and a continued conversation have prompts without the files in them", async () => {
  await using first = await typeConversation({
    files: { "p/a.txt": "content\n" },
    model: HELLO,
    typed: ["Read @a.txt", "/tree", "/quit"],
  });
  assertStringIncludes(JSON.stringify(first.requests[0]?.messages), "content");
  assertEquals(first.outputs[1], "1 * Read @a.txt\n");
  await using second = await typeConversation({
    home: first.home,
    args: ["-c", "Again @a.txt"],
    model: HELLO,
    typed: ["/usage", "/rewind 2", "/quit"],
  });
  assertStringIncludes(second.transcript, "you: Read @a.txt\nassistant: Hello!\n");
  assertMatch(second.outputs[0] ?? "", /^Read @a\.txt +100 .*\nAgain @a\.txt +100 /m);
  assertEquals(second.outputs[1], "Back before: Read @a.txt\n");
});

Deno.test("conversation: /usage has the cost of /compact also when it is continued", async () => {
  await using home = await createTemporaryDirectory({ "p/.keep": "" });
  const prompts = ["One", "Two", "Three"].map((word) => `${word} ${"word ".repeat(8_000)}`);
  const typed = [...prompts, "/compact", "/usage", "/quit"];
  const model = [...prompts, "/compact"].map(() => scriptedReply("Yes."));
  await using first = await typeConversation({ home, model, typed });
  await using second = await typeConversation({
    home,
    args: ["-c"],
    model: [],
    typed: ["/usage", "/quit"],
  });
  const rows = (text = "") => text.match(/^(?:\/compact|sum) .*\$\S+/gm);
  assertEquals(rows(first.outputs.at(-2))?.length, 2);
  // The plain view does not wrap lines, so that the table has the width of the terminal.
  assertMatch(first.outputs.at(-2) ?? "", /^One (?:word ){6}wor\.{3}.{39}$/m);
  assertEquals(rows(second.outputs[0]), rows(first.outputs.at(-2)));
});

Deno.test("conversation: /export writes into the home directory for a path with ~", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply("Hello!")],
    typed: ["Greet me", "/export ~/b.md", "/quit"],
  });
  const { outputs, home } = conversation;
  assertEquals(outputs[1], "Written to HOME/b.md\n");
  assertStringIncludes(home.read("b.md"), "Hello!");
});
