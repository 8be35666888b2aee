/**
 * The rules of a project in a conversation.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { scriptedCall, scriptedReply } from "../fake_host.ts";
import { createTemporaryDirectory } from "../temporary_directory.ts";
import { typeConversation } from "./plain_conversation.ts";

Deno.test("rules: those of a project forbid its paths also in a run that starts in a directory of it", async () => {
  for (const [directory, path] of [["p", "secret/a"], ["p/app", "../secret/a"]] as const) {
    await using home = await createTemporaryDirectory({
      "p/secret/a": "the key",
      "p/app/a.txt": "",
      "p/.git/HEAD": "ref: refs/heads/main\n",
      "p/.git/objects/.keep": "",
      "p/.git/refs/.keep": "",
      "p/.swink/config.toml": 'disallowed_tools = ["Read(secret/**)"]\n',
    });
    await using conversation = await typeConversation({
      home,
      args: ["--cwd", `${home.path}/${directory}`, "--trust"],
      model: [
        scriptedReply(scriptedCall("bash", { command: `cat ${path}` })),
        scriptedReply(scriptedCall("read_file", { path })),
        scriptedReply("Done"),
      ],
      env: { PATH: Deno.env.get("PATH") ?? "" },
      typed: ["Go", "/quit"],
    });
    const { transcript, requests } = conversation;
    assertEquals(transcript.match(/Refused: The rule/g)?.length, 2, transcript);
    assert(!JSON.stringify(requests).includes("the key"));
  }
});
