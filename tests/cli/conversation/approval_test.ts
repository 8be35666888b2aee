/**
 * Approval of tool calls in a conversation.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { type PlainConversation, typeConversation } from "./plain_conversation.ts";

const WRITE_TWICE = [
  scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })),
  scriptedReply(scriptedCall("bash", { command: "echo 2 > x" })),
  scriptedReply("Done."),
];

/** Returns the results of the tool calls in the last request, as texts. */
function listResults({ requests }: PlainConversation): string[] {
  return (requests.at(-1)?.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content)
      ? content.filter(({ type }) => type === "tool_result").map(({ content }) =>
        typeof content === "string"
          ? content
          : content.map(({ text }: { text: string }) => text).join("")
      )
      : []
  );
}

/** Types a prompt and answers. */
async function answer(
  answers: readonly string[],
  options: Partial<Parameters<typeof typeConversation>[0]> = {},
) {
  return await typeConversation({
    model: WRITE_TWICE,
    ...options,
    typed: ["Work", ...answers, "/quit"],
  });
}

Deno.test("approval: y runs the call once, n refuses it", async () => {
  await using conversation = await answer(["y", "n"]);
  assertEquals(listResults(conversation), [
    "Exit code: 0",
    "Tool call rejected by approval: the user denied it at the terminal",
  ]);
  assertStringIncludes(
    conversation.transcript,
    `
? bash echo 1 > x
  risk: execute
  Allow? [y]es / [a]lways bash / [e]dit / [n]o / no with [r]eason: y
tool: bash echo 1 > x - no output [1]
`,
  );
});

Deno.test("approval: a command that is longer than a narrow terminal begins below the name of the tool", async () => {
  const command = `touch ${"a".repeat(40)}`;
  await using conversation = await answer(["n"], {
    model: [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")],
    columns: 40,
  });
  assertStringIncludes(
    conversation.transcript,
    `
? bash
  risk: execute
  │ touch ${"a".repeat(30)}
  ┆ ${"a".repeat(10)}
  Allow?`,
  );
});

Deno.test("approval: calls that the rules decide are not counted as questions", async () => {
  const calls = [1, 2, 3].map((n) =>
    scriptedCall("bash", { command: `echo ${n} > x && make ${n}` })
  );
  const other = scriptedCall("write_file", { path: "y", content: "1\n" });
  await using conversation = await answer(["n", "n"], {
    args: ["--allowed-tools", "write_file(y)", "--disallowed-tools", "bash(make 3)"],
    model: [scriptedReply(...calls, other), scriptedReply("Done.")],
  });
  assertStringIncludes(conversation.transcript, "? 1 of 2: bash echo 1 > x && make 1\n");
  assertStringIncludes(conversation.transcript, "? 2 of 2: bash echo 2 > x && make 2\n");
});

Deno.test("approval: a runs the calls of the tool in this session [AC-30]", async () => {
  await using conversation = await answer(["a", "#approve"]);
  assertEquals(listResults(conversation), ["Exit code: 0", "Exit code: 0"]);
  assertStringIncludes(conversation.transcript, "trusted in this session: bash\n");
  // The session keeps the trust.
  await using next = await typeConversation({
    home: conversation.home,
    args: ["-c"],
    model: WRITE_TWICE,
    typed: ["Again", "/quit"],
  });
  assertEquals(listResults(next).slice(2), ["Exit code: 0", "Exit code: 0"]);
});

Deno.test("approval: reads need none, in the mode on everything does [AC-29]", async () => {
  const model = [scriptedReply(scriptedCall("list_directory")), scriptedReply("Done.")];
  await using smart = await answer([], { model });
  assert(!smart.transcript.includes("Allow?"), smart.transcript);
  await using on = await typeConversation({
    model,
    typed: ["#approve on", "Work", "n", "#approve off", "/quit"],
  });
  assertStringIncludes(on.transcript, "? list_directory\n");
  assertEquals(listResults(on), [
    "Tool call rejected by approval: the user denied it at the terminal",
  ]);
});

Deno.test("approval: p runs the commands with the same beginning", async () => {
  const run = (command: string) => scriptedReply(scriptedCall("bash", { command }));
  const model = [run("touch one"), run("touch two"), run("cp one three"), scriptedReply("Done.")];
  await using conversation = await answer(["p", "", "n", "n"], { model });
  const { transcript } = conversation;
  assertStringIncludes(transcript, '[p]refix "touch one"');
  assertStringIncludes(transcript, "Commands that begin with these words [touch one]:\n");
  await using other = await answer(["p", "touch", "n", "#approve"], { model });
  assertEquals(listResults(other).map((text) => text.split(":")[0]), [
    "Exit code",
    "Exit code",
    "Tool call rejected by approval",
  ]);
  assertStringIncludes(other.transcript, "trusted in this session: bash touch …\n");
});

Deno.test("approval: r gives the model the reason", async () => {
  await using conversation = await answer(["r", "Use rm instead", "n"]);
  assertStringIncludes(listResults(conversation)[0] ?? "", "Use rm instead");
});

Deno.test("approval: e lets the user edit the command in the editor, and asks about the edited one", async () => {
  await using conversation = await answer(["e", "y", "n"], {
    files: { "editor.sh": '#!/bin/sh\nsed -i s/1/edited/ "$1"\n' },
    env: { EDITOR: 'sh "HOME/editor.sh"' },
  });
  const { transcript } = conversation;
  assertStringIncludes(transcript, "? bash echo 1 > x\n");
  assertStringIncludes(transcript, "? bash echo edited > x\n");
  assertEquals(conversation.home.read("p/x"), "edited\n");
});

Deno.test("approval: the question about an edited command has its dangers and its risk, and not those of the former one", async () => {
  await using conversation = await answer(["e", "e", "n", "n"], {
    files: {
      "editor.sh": '#!/bin/sh\nsed -i -e "s/.*sudo.*/ls/" -e "s/echo 1.*/sudo reboot/" "$1"\n',
    },
    env: { EDITOR: 'sh "HOME/editor.sh"' },
  });
  const { transcript } = conversation;
  assertStringIncludes(
    transcript,
    `
? bash sudo reboot
  It runs a program with the rights of another user.
  It stops the machine.
  risk: execute
`,
  );
  assertStringIncludes(transcript, "\n? bash ls\n  risk: read\n");
});

Deno.test("approval: the edited call runs when it is opened again and not changed, or the editor fails", async () => {
  for (const again of ["true", "false"]) {
    const script = `#!/bin/sh\ngrep -q edited "$1" && exec ${again}\nsed -i s/1/edited/ "$1"\n`;
    await using conversation = await answer(["e", "e", "y", "n"], {
      files: { "editor.sh": script },
      env: { EDITOR: 'sh "HOME/editor.sh"' },
    });
    const { home, transcript } = conversation;
    assertEquals(transcript.split("? bash echo edited > x\n").length, 3);
    assertEquals(home.read("p/x"), "edited\n");
  }
});

Deno.test("approval: the question is asked again when the editor fails", async () => {
  await using conversation = await answer(["e", "y", "n"], { env: { EDITOR: "false" } });
  const { transcript } = conversation;
  assertStringIncludes(transcript, 'error: The editor "false" ended with exit code 1\n\n? ');
  assertEquals(conversation.home.read("p/x"), "1\n");
});

Deno.test("approval: h applies some of the hunks of a change", async () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
  const changed = lines.with(1, "first\n").with(25, "second\n").join("");
  await using conversation = await answer(["h", "n", "y"], {
    files: { "p/a.txt": lines.join("") },
    model: [
      scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
      scriptedReply(scriptedCall("write_file", { path: "a.txt", content: changed })),
      scriptedReply("Done."),
    ],
  });
  assertStringIncludes(conversation.transcript, "? hunk 2 of 2: a.txt\n");
  assertEquals(conversation.home.read("p/a.txt"), lines.with(25, "second\n").join(""));
});

Deno.test("approval: the end of the input refuses the call", async () => {
  await using conversation = await typeConversation({ model: WRITE_TWICE, typed: ["Work"] });
  assertStringIncludes(conversation.transcript, "Refused: you said no.");
});

Deno.test("approval: the end of the input at the reason refuses the call, on a row of its own", async () => {
  await using conversation = await typeConversation({ model: WRITE_TWICE, typed: ["Work", "r"] });
  assertMatch(conversation.transcript, /\n {2}Reason:\n\n\? bash/);
  assertStringIncludes(conversation.transcript, "Refused: you said no.");
});

Deno.test("approval: an interrupt closes the question, and nothing runs", async () => {
  await using conversation = await typeConversation({
    model: WRITE_TWICE,
    typed: ["Work", ({ host }) => host.sendSignal("SIGINT"), "/quit"],
  });
  assertStringIncludes(conversation.transcript, "aborted; changes made so far are kept\n");
  assertEquals([...Deno.readDirSync(`${conversation.home.path}/p`)].map(({ name }) => name), [
    ".keep",
  ]);
});

Deno.test("#approve: changes nothing for words that are no mode", async () => {
  const words = ["off now", "constructor", "untrust bash now"];
  await using conversation = await typeConversation({
    typed: [...words.map((word) => `#approve ${word}`), "#approve", "/quit"],
  });
  const { outputs } = conversation;
  for (const [index, word] of words.entries()) {
    const expected = `error: #approve takes on, smart, off or untrust, not ${JSON.stringify(word)}`;
    assertStringIncludes(outputs[index] ?? "", expected);
  }
  assertStringIncludes(outputs[3] ?? "", "approval smart");
});
