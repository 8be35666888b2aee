import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { COMMANDS } from "../../../cli/conversation/commands/table.ts";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import {
  type PlainConversation,
  type PlainConversationOptions,
  typeConversation,
} from "./plain_conversation.ts";

const HELLO = [scriptedReply("Hello!")];

/** Types lines, and returns what follows the last one that was typed before `/quit`. */
async function type(
  typed: PlainConversationOptions["typed"],
  options: Omit<PlainConversationOptions, "typed"> = {},
) {
  const conversation = await typeConversation({ ...options, typed: [...typed, "/quit"] });
  return Object.defineProperties(conversation, {
    last: { get: () => conversation.outputs.at(-2) ?? "" },
  }) as PlainConversation & {
    /** The output after the last line before `/quit`. */
    readonly last: string;
  };
}

Deno.test("commands: each has a name, a sign and one sentence, and no name is used twice", () => {
  const names = COMMANDS.flatMap(({ names }) => names);
  assertEquals(names.length, new Set(names).size);
  for (const { names, summary } of COMMANDS) {
    for (const name of names) assertMatch(name, /^[/#][a-z-]+$/);
    assertMatch(summary, /^[A-Z].*[^.]$/);
  }
});

Deno.test("#help: lists all commands, and describes one", async () => {
  await using conversation = await type(["#help", "/help model", "/help nothing"]);
  const [list = "", one, missing] = conversation.outputs;
  for (const { names: [name], summary } of COMMANDS) {
    assertStringIncludes(list, name);
    assertStringIncludes(list, summary);
  }
  assertEquals(
    one,
    "/model [PROVIDER/MODEL[:LEVEL]|next]\n" +
      "  Shows or sets the model of the next turn; next selects the next configured one\n" +
      "  Also: /models\n  Key: F4\n",
  );
  assertEquals(missing, "error: There is no command nothing\n");
});

Deno.test("#info: shows session, model, permissions and usage", async () => {
  await using conversation = await type(["Greet me", "#info"], { model: HELLO });
  assertMatch(
    conversation.last,
    /^session {4}SESSION\ndirectory {2}HOME\/p\nmodel {6}anthropic\/claude-sonnet-5-5\nmode {7}execute\napproval {3}smart\nnetwork {4}off\nsandbox .*\ntools {6}read_file, .*\nmessages {3}2 messages\ntokens {5}120 in 1 prompt\n$/,
  );
});

Deno.test("#clear: starts on a new line, and the conversation continues", async () => {
  await using conversation = await type(["Greet me", "#clear", "Again"], {
    model: [...HELLO, ...HELLO],
  });
  assertEquals(conversation.requests.at(-1)?.messages.length, 3);
});

Deno.test("/reset: starts a new session without the history, trust and usage", async () => {
  await using conversation = await type([
    "Greet me",
    "#approve off",
    "/reset",
    "#approve",
    "/usage",
    "Again",
  ], {
    model: [...HELLO, ...HELLO],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs[2], "New conversation\n");
  assertStringIncludes(outputs[3] ?? "", "approval smart");
  assertEquals(outputs[4], "No prompt has been sent yet\n");
  assertEquals(requests.at(-1)?.messages.length, 1);
  await using list = await type(["#sessions"], { home: conversation.home });
  assertMatch(list.last, /^1 {2}SESSION .*Again\n2 {2}SESSION .*Greet me\n/);
});

Deno.test("#copy: names the way to a file where the terminal cannot copy", async () => {
  await using conversation = await type(["#copy", "Greet me", "#copy", "#copy nothing"], {
    model: HELLO,
  });
  const [nothing, , copied, invalid] = conversation.outputs;
  assertEquals(nothing, "error: There is nothing to copy\n");
  assertEquals(
    copied,
    "error: This terminal cannot copy\n/export FILE writes the conversation to a file.\n",
  );
  assertStringIncludes(invalid ?? "", "#copy takes all or code");
});

Deno.test("#save: names the session", async () => {
  await using conversation = await type(["Greet me", "#save A greeting"], { model: HELLO });
  assertEquals(conversation.last, 'Saved as "A greeting"; swink -r SESSION continues it\n');
  await using list = await type(["#sessions"], { home: conversation.home });
  assertMatch(list.last, /A greeting\n/);
  await using unsaved = await type(["#save x"], { args: ["--no-session"] });
  assertStringIncludes(unsaved.last, "This conversation is not saved\n");
});

Deno.test("#keys, #key: list and save keys, which appear nowhere", async () => {
  const key = `sk-ant-${"k1".repeat(20)}`;
  await using conversation = await type(["#keys", "#key openai", key, "#keys", "#key nowhere"], {
    model: HELLO,
  });
  const { outputs, transcript, requests } = conversation;
  assertEquals(outputs[0], "anthropic  ANTHROPIC_API_KEY\n");
  assertStringIncludes(transcript, "The key for openai is saved in ");
  assertMatch(outputs.at(-3) ?? "", /^anthropic .*\nopenai .*credentials/);
  assertStringIncludes(outputs.at(-2) ?? "", 'Unknown provider "nowhere"');
  assertEquals(requests, []);
});

Deno.test("#key: a typed key is saved without being asked for", async () => {
  await using conversation = await type([`#key openai sk-${"k1".repeat(20)}`, "#keys"]);
  assertMatch(conversation.last, /^anthropic .*\nopenai .*credentials/);
});

Deno.test("#approve: shows and sets the mode, and ends trust", async () => {
  await using conversation = await typeConversation({
    model: [scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })), scriptedReply("Done.")],
    typed: [
      "#approve on",
      "#approve smart",
      "Work",
      "a",
      "#approve",
      "#approve untrust bash",
      "#approve untrust bash",
      "#approve maybe",
      "/quit",
    ],
  });
  const { transcript } = conversation;
  assertStringIncludes(transcript, "> #approve on\napproval on: asks about every call\n");
  assertStringIncludes(
    transcript,
    "> #approve\napproval smart: asks about calls that could change something\ntrusted in this session: bash\n",
  );
  assertStringIncludes(
    transcript,
    "trusted in this session: nothing\n> #approve untrust bash\nerror: The tool bash is not trusted\n",
  );
  assertStringIncludes(transcript, '#approve takes on, smart, off or untrust, not "maybe"\n');
});

Deno.test("/quit: leaves with 0", async () => {
  for (const command of ["/quit", "/q", "/exit"]) {
    await using conversation = await typeConversation({ typed: [command] });
    assertEquals(conversation.code, 0);
  }
});

Deno.test("/thinking: sets the level of the next request", async () => {
  await using conversation = await type([
    "/thinking high",
    "Greet me",
    "/thinking hide",
    "/thinking lots",
  ], {
    model: HELLO,
  });
  const { outputs, requests } = conversation;
  assertEquals([outputs[0], outputs[2]], ["thinking high, shown\n", "thinking high, hidden\n"]);
  assertStringIncludes(outputs[3] ?? "", 'There is no thinking level "lots"');
  assert("thinking" in (requests[0] ?? {}));
});

Deno.test("/system: replaces the system prompt of this conversation, and restores it", async () => {
  await using conversation = await type([
    "/system Be brief.",
    "Greet me",
    "/system",
    "/system default",
    "Greet me",
  ], {
    model: [...HELLO, ...HELLO],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs[2], "Be brief.\n");
  const systems = requests.map(({ system }) => JSON.stringify(system));
  assertStringIncludes(systems[0] ?? "", "Be brief.");
  assertStringIncludes(systems[1] ?? "", "You are Swink");
});

Deno.test("/model: sets the model of the next request", async () => {
  await using conversation = await type([
    "/model",
    "/model anthropic/other:low",
    "Greet me",
    "/model nothing",
    "/model next",
  ], {
    model: HELLO,
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs[0], "model anthropic/claude-sonnet-5-5\n");
  assertEquals(outputs[1], "model anthropic/other:low from now on\n");
  assertEquals(requests[0]?.model, "other");
  assertStringIncludes(outputs[3] ?? "", "write it as provider/model");
  assertMatch(outputs[4] ?? "", /^model anthropic\/claude-sonnet-5-5 from now on\n/);
});

Deno.test("/compact: replaces earlier messages by a summary that the model writes", async () => {
  const prompts = Array.from(
    { length: 12 },
    (_, index) => `Prompt ${index} ${"word ".repeat(8_000)}`,
  );
  await using conversation = await type([
    "/compact",
    ...prompts,
    "/compact the words",
    "/usage",
    "Next",
    "/context",
  ], {
    model: [...prompts.map(() => scriptedReply("Yes.")), scriptedReply("SUMMARY"), ...HELLO],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs[0], "There is nothing to omit yet\n");
  assertMatch(outputs.at(-4) ?? "", /^\/compact +[\d,]+ /m);
  assertMatch(outputs.at(-5) ?? "", /^A summary replaces \d+ messages: [\d,]+ to [\d,]+ tokens\n$/);
  assertStringIncludes(JSON.stringify(requests.at(-2)), "the words");
  assertStringIncludes(JSON.stringify(requests.at(-1)?.messages), "SUMMARY");
  assertMatch(conversation.last, /sent +\d+ messages; a summary replaces the others\n/);
});

Deno.test("/usage: shows tokens and cost by prompt and in sum", async () => {
  await using conversation = await type(["First", "Second", "/usage"], {
    model: [...HELLO, ...HELLO],
  });
  assertEquals(
    conversation.last.replaceAll(/\d+\.\d s/g, "0.0 s"),
    `turn    input  cached  output     cost   time
First     100       0      20  $0.0004  0.0 s
Second    100       0      20  $0.0004  0.0 s
sum       200       0      40  $0.0008  0.0 s
`,
  );
});

Deno.test("/fork: continues in a copy", async () => {
  await using conversation = await type(["/fork", "First", "/fork", "Second"], {
    model: [...HELLO, ...HELLO],
  });
  const { outputs, home } = conversation;
  assertEquals(outputs[0], "error: There is no saved session to copy yet\n");
  assertEquals(outputs[2], "Continuing in the copy SESSION of SESSION\n");
  await using list = await type(["#sessions"], { home });
  assertMatch(list.last, /^1 {2}SESSION .*4 messages.*\n2 {2}SESSION .*2 messages/);
});

Deno.test("/tree, /rewind: return to earlier prompts, and list all branches", async () => {
  await using conversation = await type(
    ["First", "Second", "/rewind", "Third", "/tree", "/tree 2", "Fourth", "/rewind 9", "/tree 9"],
    { model: [...HELLO, ...HELLO, ...HELLO, ...HELLO] },
  );
  const { outputs, requests } = conversation;
  assertEquals(outputs[2], "Back before: Second\n");
  assertEquals(outputs[4], "1 * First\n2     Second\n3 *   Third\n");
  const texts = requests.map(({ messages }) => JSON.stringify(messages));
  assert(!texts[2]?.includes("Second"), texts[2]);
  assertStringIncludes(texts[3] ?? "", "Second");
  assert(!texts[3]?.includes("Third"), texts[3]);
  assertStringIncludes(outputs[7] ?? "", '/rewind takes a number from 1 to 3, not "9"');
  assertStringIncludes(outputs[8] ?? "", '/tree takes a number from 1 to 4, not "9"');
});

const WRITES = [
  scriptedReply(scriptedCall("write_file", { path: "a.txt", content: "1\n" })),
  scriptedReply("Done."),
  scriptedReply(scriptedCall("bash", { command: "echo 2 > a.txt; echo 3 > b.txt" })),
  scriptedReply("Done."),
];

Deno.test("/undo: undoes the file changes of one prompt after the other, and the model reads that", async () => {
  await using conversation = await type(["One", "Two", "/undo", "/undo", "/undo", "Next"], {
    args: ["--approve-all"],
    model: [...WRITES, ...HELLO],
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs.slice(2, 5), [
    "restored a.txt\nremoved b.txt\n/redo makes these changes again\n",
    "removed a.txt\n/redo makes these changes again\n",
    "There is no change to undo; those of swink run are not recorded\n",
  ]);
  assertStringIncludes(
    JSON.stringify(requests.at(-1)?.messages),
    "I have undone your changes of these files: a.txt, b.txt",
  );
});

Deno.test("/undo: undoes changes of a session that is continued", async () => {
  await using first = await type(["One"], { args: ["--approve-all"], model: WRITES });
  const { home } = first;
  await using second = await type(["/undo"], { home, args: ["-c"] });
  assertEquals(second.last, "removed a.txt\n/redo makes these changes again\n");
});

Deno.test("/redo: makes undone file changes again, and the model reads that", async () => {
  await using conversation = await type(
    ["One", "Two", "/redo", "/undo", "/undo", "/redo", "/redo", "/undo", "/redo", "Next"],
    { args: ["--approve-all"], model: [...WRITES, ...HELLO] },
  );
  const { outputs, requests } = conversation;
  assertEquals(outputs[2], "There is nothing to redo\n");
  assertEquals(outputs.slice(5, 7), ["restored a.txt\n", "restored a.txt\nrestored b.txt\n"]);
  assertEquals(outputs[8], "restored a.txt\nrestored b.txt\n");
  const sent = JSON.stringify(requests.at(-1)?.messages);
  const notes = sent.split("I have made your changes of these files again: ").slice(1);
  assertEquals(notes.map((note) => note.split('"')[0]), ["a.txt", "a.txt, b.txt", "a.txt, b.txt"]);
});

Deno.test("/redo: makes changes again that were undone in a session that is continued", async () => {
  await using first = await type(["One", "/undo"], { args: ["--approve-all"], model: WRITES });
  const { home } = first;
  await using second = await type(["/redo"], { home, args: ["-c"] });
  assertEquals(second.last, "restored a.txt\n");
});

Deno.test("/rewind: asks whether to undo the file changes, too", async () => {
  await using conversation = await typeConversation({
    args: ["--approve-all"],
    model: WRITES,
    typed: ["One", "Two", "/rewind 2", "y", "/quit"],
  });
  assertStringIncludes(
    conversation.transcript,
    `? Files were changed after 2 prompts since then
  Undo the changes of files, too? [y]es / [n]o / [c]ancel: y
restored a.txt
removed b.txt
removed a.txt
Back before: One
`,
  );
});

Deno.test("/context: shows the share of the context window", async () => {
  await using conversation = await type(["Greet me", "/context"], { model: HELLO });
  assertMatch(
    conversation.last,
    /^model +anthropic\/claude-sonnet-5-5\nused +[\d,]+ tokens of 1,000,000 \(0 %\)\nsystem prompt +about [\d,]+ tokens\ntools +7 tools, about [\d,]+ tokens\nmessages +2 messages\n$/,
  );
});

Deno.test("/export: writes the conversation, and replaces no file", async () => {
  await using conversation = await type([
    "Greet me",
    "/export a.md",
    "/export a.md",
    "/export a.html",
    "/export a.jsonl",
    "/export a.png",
  ], {
    model: HELLO,
  });
  const { outputs, home } = conversation;
  assertEquals(outputs[1], "Written to HOME/p/a.md\n");
  assertEquals(outputs[2], "error: HOME/p/a.md cannot be written: it exists already\n");
  assertStringIncludes(home.read("p/a.md"), "Hello!");
  assertStringIncludes(home.read("p/a.html"), "<!DOCTYPE html>");
  assertStringIncludes(home.read("p/a.jsonl"), '"type":"session"');
  assertStringIncludes(outputs[5] ?? "", "Write a name that ends with .md, .html or .jsonl.");
});

Deno.test("/skills: lists the skills of the user", async () => {
  await using conversation = await type(["/skills"], {
    files: { ".agents/skills/tea/SKILL.md": "---\nname: tea\ndescription: Makes tea.\n---\nBoil." },
  });
  assertEquals(conversation.last, "tea  Makes tea.\n");
});

Deno.test("/agents: states that no sub-agent was started", async () => {
  await using conversation = await type(["/agents", "/agents 7"]);
  assertEquals(conversation.outputs.slice(0, 2), [
    "No sub-agent was started\n",
    'error: There is no agent "7"\n',
  ]);
});

Deno.test("/init, /review: send a task to the model", async () => {
  await using conversation = await type(["/init in German", "/review main"], {
    model: [...HELLO, ...HELLO],
  });
  const texts = conversation.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
  assertStringIncludes(texts[0] ?? "", "Write AGENTS.md");
  assertStringIncludes(texts[0] ?? "", "Also: in German");
  assertStringIncludes(texts[1] ?? "", "Review the changes of main.");
});

Deno.test("/net: sets the network access of commands, which the system prompt describes", async () => {
  await using conversation = await type(["/net", "/net example.org", "Greet me", "/net on off"], {
    model: HELLO,
  });
  const { outputs, requests } = conversation;
  assertEquals(outputs.slice(0, 2), [
    "network of commands: off\n",
    "network of commands: only the host example.org\n",
  ]);
  assertStringIncludes(JSON.stringify(requests[0]?.system), "only example.org");
  assertStringIncludes(outputs[3] ?? "", "for /net: must be on, off or hosts");
});

Deno.test("/theme: reports an unknown theme", async () => {
  await using conversation = await type(["/theme", "/theme drak"]);
  assertEquals(conversation.outputs.slice(0, 2), [
    "Plain output has no colors\n",
    'error: There is no theme "drak". Did you mean dark?\nThemes: dark, light, high_contrast, mono.\n',
  ]);
});

Deno.test("/doctor: checks the installation", async () => {
  await using conversation = await type(["/doctor"]);
  assertMatch(
    conversation.last,
    /^ok +runtime: swink [\s\S]*ok +keys: anthropic \(ANTHROPIC_API_KEY\)\n/,
  );
});

Deno.test("/queue: reports that no text waits, and an unknown number", async () => {
  await using conversation = await type(["/queue", "/queue edit 1", "/queue drop"]);
  assertEquals(conversation.outputs.slice(0, 3), [
    "No text waits for the agent\n",
    'error: /queue edit needs the number of a text that waits, not "1"\nThe queue is empty.\n',
    'error: /queue takes edit N, remove N or clear, not "drop"\n',
  ]);
});

Deno.test("/expand, /tools: show results of tool calls completely", async () => {
  const files = { "p/a.txt": "one\ntwo\nthree\n" };
  const model = [
    scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
    scriptedReply("Read."),
    scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
    scriptedReply("Read."),
  ];
  await using conversation = await type(
    ["/expand", "Read", "/expand", "/expand 1", "/tools expanded", "Again", "/tools", "/expand 7"],
    { files, model },
  );
  const { outputs } = conversation;
  assertEquals(outputs[0], "error: No tool call has ended yet\n");
  assert(!outputs[1]?.includes("three"), outputs[1]);
  assertStringIncludes(outputs[2] ?? "", "three");
  assertEquals(outputs[3], outputs[2]);
  assertStringIncludes(outputs[5] ?? "", "three");
  assertStringIncludes(outputs[6] ?? "", "read_file");
  assertEquals(outputs[7], "error: There is no tool call 7\nWrite a number from 1 to 2.\n");
});

Deno.test("/diff: shows the last file change", async () => {
  await using empty = await type(["/diff wide"]);
  assertEquals(empty.outputs[0], "Later changes are shown side by side\n");
  await using conversation = await type(["/diff", "One", "/diff", "/diff sideways"], {
    args: ["--approve-all"],
    model: WRITES,
  });
  const { outputs } = conversation;
  assertStringIncludes(outputs[0] ?? "", "error: No file was changed since the conversation was");
  assertStringIncludes(outputs[2] ?? "", "\n  a.txt (created, +1)\n  1 + 1\n");
  assertStringIncludes(outputs[3] ?? "", "/diff takes wide or unified");
});
