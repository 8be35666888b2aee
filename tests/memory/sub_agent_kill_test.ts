import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { openSession } from "../../src/memory/recording/open_session.ts";
import { listSubAgents } from "../../src/memory/store/sub_agent_link.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { createDeadline } from "../deadline.ts";

const CHILD_PATH = new URL("./sub_agent_child.ts", import.meta.url).pathname;
const FLAGS = ["run", "--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];

Deno.test("sub-agents: a kill of the process is reported for each, with its session", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await killWhileWorking(directory);
    const store = new FileSessionStore({ directory });
    const streamFn = scriptedStream([reply("I see"), reply("I see"), reply("I see")]);
    const agent = new Agent({ model: "test/model", streamFn });
    await using session = await openSession(store, { id: "parent" }, agent);
    assert(session.isInterrupted);
    await agent.continue();

    const text = JSON.stringify(agent.state.messages);
    const children = await listSubAgents(store, "parent");
    assertEquals(children.length, 3);
    for (const { id } of children) assertStringIncludes(text, id);
    for (const name of ["tree-1", "tree-2", "tree-3"]) {
      assertStringIncludes(text, `Its worktree /trees/${name} with the branch`);
    }
    assertStringIncludes(text, "This tool call was interrupted while the agent");
    for (const call of ["background", "detached"]) {
      assertStringIncludes(text, `which the call ${call} started, was interrupted`);
    }
    const results = await session.session.path({ types: ["sub_agent_result"] });
    assertEquals(
      results.map((entry) => entry.type === "sub_agent_result" && entry.status),
      ["interrupted", "interrupted", "interrupted"],
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** Starts sub-agents in another process, and kills it while they work. */
async function killWhileWorking(directory: string): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...FLAGS, CHILD_PATH, directory],
    stdin: "null",
    stdout: "piped",
    signal: createDeadline(),
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assertEquals(new TextDecoder().decode(value), "working\n");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
}
