// Edits files and runs commands with the coding tools, which share a sandbox.

import { Agent, extractText } from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
import { codingTools, createSandbox } from "@swink/agent/tools";

const directory = await Deno.makeTempDir();
await Deno.writeTextFile(`${directory}/greet.txt`, "Hello, wrld!\n");

await using sandbox = createSandbox({ cwd: directory });
const edit = { old_string: "wrld", new_string: "world" };
const agent = new Agent({
  model: "example/scripted",
  tools: codingTools({ sandbox }),
  streamFn: scriptedStream([
    reply([toolCall("read_file", { path: "greet.txt" })]),
    reply([toolCall("edit_file", { path: "greet.txt", edits: [edit] })]),
    reply([
      toolCall("bash", { command: "cat greet.txt" }),
      toolCall("read_file", { path: "../x" }),
    ]),
    reply("Corrected."),
  ]),
});

const { messages } = await agent.prompt("Correct the spelling");
for (const message of messages) {
  if (message.role !== "tool_result") continue;
  const [line = ""] = extractText(message.content).split("\n").slice(-1);
  console.log(`${message.toolName}: ${message.isError ? "refused" : line}`);
}
await Deno.remove(directory, { recursive: true });

// Prints:
// read_file: 1	Hello, wrld!
// edit_file: Edited greet.txt (+1 -1)
// bash: Hello, world!
// read_file: refused
