// Lets a sub-agent change a copy of a git repository, on a branch of its own that the host merges.

import { Agent, extractText } from "@swink/agent";
import { subAgentTool } from "@swink/agent/sub-agents";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
import { codingTools, createSandbox, gitWorktrees } from "@swink/agent/tools";

const directory = await Deno.realPath(await Deno.makeTempDir());
const repository = `${directory}/project`;
await Deno.mkdir(repository);
await Deno.writeTextFile(`${repository}/greeting.txt`, "Helo\n");
await git("init", "--quiet");
await git("add", "--all");
await git("commit", "--quiet", "--message", "First");

await using sandbox = createSandbox({ cwd: repository });
const develop = subAgentTool({
  name: "develop",
  description: "Makes a change on a branch of its own. The prompt describes the change.",
  worktrees: gitWorktrees({ repository }),
  worktreeTools: ({ directory }) => {
    const sandbox = createSandbox({ cwd: directory });
    return { tools: codingTools({ sandbox }), resource: sandbox };
  },
  streamFn: scriptedStream([
    reply([toolCall("read_file", { path: "greeting.txt" })]),
    reply([toolCall("write_file", { path: "greeting.txt", content: "Hello\n" })]),
    reply("I corrected the greeting."),
  ]),
});
const agent = new Agent({
  model: "example/model",
  tools: [develop, ...codingTools({ sandbox })],
  streamFn: scriptedStream([
    reply([toolCall("develop", { prompt: "Correct the greeting." })]),
    reply("The correction is on a branch."),
  ]),
});
agent.subscribe((event) => {
  if (event.type !== "tool_execution_end") return;
  console.log(extractText(event.result.content).replace(/"swink.*\)/, "swink/…"));
});
console.log((await agent.prompt("Correct the greeting")).text);

const branch = (await git("branch", "--list", "swink/*", "--format=%(refname:short)")).trim();
await git("merge", "--quiet", branch);
console.log((await Deno.readTextFile(`${repository}/greeting.txt`)).trim());
await Deno.remove(directory, { recursive: true });

async function git(...args: readonly string[]): Promise<string> {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
  const command = new Deno.Command("git", { args: [...identity, ...args], cwd: repository });
  return new TextDecoder().decode((await command.output()).stdout);
}

// Prints:
// I corrected the greeting.
//
// Its changes are committed on the branch swink/… and not merged:
//  greeting.txt | 2 +-
//  1 file changed, 1 insertion(+), 1 deletion(-)
// The correction is on a branch.
// Hello
