/**
 * Starts sub-agents that work until this process is killed.
 *
 * @module
 */

import { Agent } from "../../src/agent/agent.ts";
import type { WorktreeCreation, WorktreeEnd } from "../../src/core/ports/worktree_port.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { openSession } from "../../src/memory/recording/open_session.ts";
import { subAgentTool } from "../../src/sub_agents/sub_agent_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

const MODES = ["foreground", "background", "detached"] as const;

/** Prints a line when all sub-agents work. */
async function startSubAgents(directory: string): Promise<void> {
  const own = scriptedStream([reply(MODES.map(createCall)), hang()]);
  let working = 0;
  const streamFn: StreamFn = (request) => {
    const isChild = JSON.stringify(request.context.messages[0]).includes("Look");
    if (!isChild) return own(request);
    working++;
    if (working === MODES.length) console.log("working");
    return scriptedStream([hang()])(request);
  };
  const explore = subAgentTool({
    name: "explore",
    description: "Looks around.",
    background: true,
    detached: true,
    worktrees: { create: createWorktree },
    worktreeTools: () => ({ tools: [] }),
  });
  const agent = new Agent({ model: "test/model", streamFn, tools: [explore] });
  await openSession(new FileSessionStore({ directory }), { id: "parent" }, agent);
  const timer = setInterval(() => {}, 1_000); // Keeps the process alive.
  await agent.prompt("Go");
  clearInterval(timer);
}

let worktrees = 0;

function createWorktree(): Promise<WorktreeCreation> {
  const name = `tree-${++worktrees}`;
  const remove = (): Promise<WorktreeEnd> => Promise.resolve({ type: "removed" });
  return Promise.resolve({
    type: "created",
    worktree: { directory: `/trees/${name}`, branch: name, remove },
  });
}

function createCall(mode: typeof MODES[number]): ReturnType<typeof toolCall> {
  const flag = mode === "foreground" ? {} : { [mode]: true };
  return { ...toolCall("explore", { prompt: `Look ${mode}`, ...flag }), id: mode };
}

if (import.meta.main) await startSubAgents(Deno.args[0] ?? "");
