import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { getRisk } from "../core/approval/risk.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { WorktreeCreation, WorktreeEnd, WorktreePort } from "../core/ports/worktree_port.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import { type AgentTool, defineTool } from "../core/tools/tool.ts";
import { toolCall } from "../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../testing/script.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import type { SubAgentToolOptions } from "./sub_agent_options.ts";
import { subAgentTool } from "./sub_agent_tool.ts";

const DIRECTORY = "/trees/fix-1";

/** A port that counts its worktrees. */
class FakeWorktrees implements WorktreePort {
  created: string[] = [];
  removed = 0;
  readonly #end: WorktreeEnd | undefined;

  constructor(end?: WorktreeEnd) {
    this.#end = end;
  }

  create({ name }: { readonly name: string }): Promise<WorktreeCreation> {
    const end = this.#end;
    if (!end) return Promise.resolve({ type: "failed", reason: "there is no repository" });
    this.created.push(name);
    const remove = (): Promise<WorktreeEnd> => {
      this.removed++;
      return Promise.resolve(end);
    };
    const worktree = { directory: DIRECTORY, branch: "swink/fix-1", remove };
    return Promise.resolve({ type: "created", worktree });
  }
}

interface Trial {
  readonly agent: Agent;
  readonly ran: string[];
  readonly childStream: ReturnType<typeof scriptedStream>;
}

function writeTool(ran: string[], directory: string, extra: Partial<AgentTool> = {}): AgentTool {
  return {
    ...defineTool({
      name: "write",
      description: "Writes a file.",
      parameters: {
        type: "object",
        properties: { path: { type: "string" }, content: { type: "string" } },
        required: ["path"],
      },
      execute: ({ path }) => {
        ran.push(`${directory}: ${path}`);
        return "written";
      },
    }),
    ...extra,
  };
}

function createTrial(
  children: readonly ScriptedStep[],
  worktrees: WorktreePort,
  extra: Partial<SubAgentToolOptions> = {},
): Trial {
  const ran: string[] = [];
  const fix = subAgentTool({
    name: "fix",
    description: "Fixes.",
    background: true,
    worktrees,
    worktreeTools: ({ directory }) => ({
      tools: [writeTool(ran, directory)],
      resource: { [Symbol.asyncDispose]: () => Promise.resolve(void ran.push("closed")) },
    }),
    ...extra,
  });
  const ownStream = scriptedStream([
    reply([toolCall("fix", { prompt: "Look" })]),
    reply("Thanks"),
    reply("Bye"),
  ]);
  const childStream = scriptedStream(children);
  const streamFn: StreamFn = (request) =>
    JSON.stringify(request.context.messages[0]).includes("Look")
      ? childStream(request)
      : ownStream(request);
  const read = defineTool({
    name: "read",
    description: "Reads the file of the run's own directory.",
    parameters: { type: "object" },
    readOnly: true,
    execute: () => "read",
  });
  const tools = [fix, writeTool(ran, "/repository"), read];
  return { agent: new Agent({ model: "test/model", streamFn, tools }), ran, childStream };
}

function readText(agent: Agent): string {
  return JSON.stringify(agent.state.messages);
}

const write = (path: string) => toolCall("write", { path });

Deno.test("worktrees: the tools of a sub-agent work in its directory, and the report names the branch", async () => {
  const worktrees = new FakeWorktrees({ type: "kept", summary: " a.ts | 2 +-" });
  const trial = createTrial([reply([write("a.ts")]), reply("Fixed")], worktrees);
  await trial.agent.prompt("Go");
  assertEquals(trial.ran, [`${DIRECTORY}: a.ts`, "closed"]);
  assertEquals([worktrees.created, worktrees.removed], [["fix"], 1]);
  const [request] = trial.childStream.calls;
  // `read` would read in the directory of the run.
  assertEquals(request?.context.tools.map(({ name }) => name), ["write"]);
  assertStringIncludes(request?.context.systemPrompt ?? "", DIRECTORY);
  const text = readText(trial.agent);
  assertStringIncludes(text, "Fixed\\n\\nIts changes are committed on the branch");
  assertStringIncludes(text, "swink/fix-1");
  assertStringIncludes(text, " a.ts | 2 +-");
});

Deno.test("worktrees: the report states that nothing was changed, or that the worktree was kept", async () => {
  const ends: readonly (readonly [WorktreeEnd, string])[] = [
    [{ type: "removed" }, "It changed no files"],
    [{ type: "failed", reason: "the disk is full" }, "was kept: the disk is full"],
  ];
  for (const [end, expected] of ends) {
    const { agent } = createTrial([reply("Done")], new FakeWorktrees(end));
    await agent.prompt("Go");
    assertStringIncludes(readText(agent), expected);
  }
});

Deno.test("worktrees: a sub-agent that fails leaves its changes, too", async () => {
  const worktrees = new FakeWorktrees({ type: "kept", summary: " a.ts | 2 +-" });
  const { agent } = createTrial([fail("bad_request", "no")], worktrees);
  await agent.prompt("Go");
  assertEquals(worktrees.removed, 1);
  assertStringIncludes(readText(agent), "did not finish: no");
  assertStringIncludes(readText(agent), "swink/fix-1");
  const result = agent.state.messages.find(({ role }) => role === "tool_result");
  assertEquals(result?.role === "tool_result" && result.isError, true);
});

Deno.test("worktrees: a port that rejects is reported, and the report stays", async () => {
  const worktree = {
    directory: DIRECTORY,
    branch: "swink/fix-1",
    remove: () => Promise.reject(new Error("the disk is gone")),
  };
  const port = { create: () => Promise.resolve({ type: "created", worktree } as const) };
  const { agent } = createTrial([reply("Done")], port);
  await agent.prompt("Go");
  assertStringIncludes(readText(agent), "Done");
  assertStringIncludes(readText(agent), "was kept: the disk is gone");
});

Deno.test("worktrees: without one the sub-agent does not start", async () => {
  const { agent, childStream } = createTrial([], new FakeWorktrees());
  await agent.prompt("Go");
  assertEquals(childStream.calls.length, 0);
  assertStringIncludes(readText(agent), "was not started: there is no repository");
});

Deno.test("worktrees: the sub-agent does not start if an untyped port returns no worktree", async () => {
  for (const creation of [undefined, null, true, { type: "created" }, { worktree: "/w" }]) {
    const create = () => Promise.resolve(creation as unknown as WorktreeCreation);
    const { agent, childStream, ran } = createTrial([reply([write("a.txt")]), reply("Done")], {
      create,
    });
    await agent.prompt("Go");
    assertEquals([childStream.calls.length, ran], [0, []]);
    assertStringIncludes(
      readText(agent),
      "was not started: its worktree port returned no worktree",
    );
  }
});

Deno.test("worktrees: tools that cannot be made end the worktree", async () => {
  const worktrees = new FakeWorktrees({ type: "removed" });
  const { agent } = createTrial([], worktrees, {
    worktreeTools: () => Promise.reject(new Error("no sandbox")),
  });
  await agent.prompt("Go");
  assertEquals(worktrees.removed, 1);
  assertStringIncludes(readText(agent), "no sandbox");
});

Deno.test("worktrees: paths that are not relative are refused", async () => {
  const paths = [
    `${DIRECTORY}/secret`,
    "/repository/a",
    "../fix-1/secret",
    "a/../../fix-1/secret",
    "~/a",
    "C:\\a",
  ];
  const calls = [
    ...paths.map(write),
    toolCall("write", { path: "a", content: `cat ${DIRECTORY}/secret` }),
  ];
  const children = [reply(calls.map((call, index) => ({ ...call, id: `w${index}` })))];
  const worktrees = new FakeWorktrees({ type: "removed" });
  const trial = createTrial([
    ...children,
    reply([toolCall("write", {
      path: "notes.md",
      content: "/absolute paths and .. are fine in a text",
    })]),
    reply("Done"),
  ], worktrees);
  await trial.agent.prompt("Go");
  assertEquals(trial.ran, [`${DIRECTORY}: notes.md`, "closed"]);
});

Deno.test("worktrees: the path of the copy is refused, also if the sub-agent works in a directory of it", async () => {
  const inner = new FakeWorktrees({ type: "removed" });
  const worktrees: WorktreePort = {
    async create(options) {
      const creation = await inner.create(options);
      if (creation.type === "failed") return creation;
      const directory = `${DIRECTORY}/packages/a`;
      return { ...creation, worktree: { ...creation.worktree, directory, root: DIRECTORY } };
    },
  };
  const paths = [
    toolCall("write", { path: "a", content: `cat ${DIRECTORY}/secret` }, { id: "w1" }),
    toolCall("write", { path: "notes.md" }, { id: "w2" }),
  ];
  const trial = createTrial([reply(paths), reply("Done")], worktrees);
  await trial.agent.prompt("Go");
  assertEquals(trial.ran, [`${DIRECTORY}/packages/a: notes.md`, "closed"]);
});

Deno.test("worktrees: a bound tool has the rights of the tool of the run", async () => {
  const worktrees = new FakeWorktrees({ type: "removed" });
  const ran: string[] = [];
  const trial = createTrial([reply([write("a.ts")]), reply("Done")], worktrees, {
    readOnly: true, // `write` of the run is not.
    worktreeTools: ({ directory }) => ({ tools: [writeTool(ran, directory, { readOnly: true })] }),
  });
  await trial.agent.prompt("Go");
  assertEquals(ran, []);
  assertEquals(trial.childStream.calls[0]?.context.tools, []);
});

Deno.test("worktrees: the risk and the approval of a call are those of the tool of the run", async () => {
  const ran: string[] = [];
  const risks: string[] = [];
  const trial = createTrial(
    [reply([write("a.ts")]), reply("Done")],
    new FakeWorktrees({ type: "removed" }),
    {
      worktreeTools: ({ directory }) => ({
        tools: [writeTool(ran, directory, { risk: "read", requiresApproval: false })],
      }),
      policies: [{
        name: "risks",
        preDispatch: async ({ tool, arguments: args }) => {
          risks.push(await getRisk(tool, args), String(tool.requiresApproval));
        },
      }],
    },
  );
  await trial.agent.prompt("Go");
  assertEquals(risks, ["execute", "undefined"]);
  assertEquals(ran, [`${DIRECTORY}: a.ts`]);
});

Deno.test("subAgentTool(): worktrees and worktreeTools are given together", () => {
  const worktrees = new FakeWorktrees();
  const worktreeTools = () => ({ tools: [] });
  const invalid = [
    { worktrees },
    { worktreeTools },
    { worktrees: {}, worktreeTools },
    { worktrees, worktreeTools: [] },
  ] as unknown as readonly Partial<SubAgentToolOptions>[];
  for (const options of invalid) {
    assertThrows(
      () => subAgentTool({ name: "fix", description: "Fixes.", ...options }),
      BadRequestError,
      "worktrees",
    );
  }
});

Deno.test("worktrees: those that an earlier process has left are reported as warnings", async () => {
  const worktree = {
    directory: DIRECTORY,
    branch: "swink/fix-1",
    remove: () => Promise.resolve({ type: "removed" } as const),
  };
  const notices = ["The worktree /a was kept.", "The worktree /b was kept."];
  const port: WorktreePort = {
    create: () => Promise.resolve({ type: "created", worktree, notices }),
  };
  const { agent } = createTrial([reply("Done")], port);
  const warnings: unknown[] = [];
  agent.subscribe((event) => {
    if (event.type === "sub_agent" && event.event.type === "warning") warnings.push(event.event);
  });
  await agent.prompt("Go");
  assertEquals(
    warnings,
    notices.map((message) => ({ type: "warning", code: "worktree_left", message })),
  );
});
