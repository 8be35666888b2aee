/**
 * The tools of a run: those of a coding agent, the skills, and those of MCP servers, in one sandbox.
 *
 * @module
 */

import type { Agent, AgentTool, Policy } from "../../mod.ts";
// Not mod.ts, which loads the tools and approval rules that the first request does not need.
import { createBasicTools, createToolKit } from "../../src/tools/basic_tools.ts";
import type { Sandbox, SandboxOptions, Skill } from "../../src/tools/mod.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { ConnectedServers, ServerOptions } from "../mcp/connect_servers.ts";
import { createTaskTool, type TaskToolOptions } from "./task_tool.ts";
import { resolveToolRules, type ToolRules, type ToolSelection } from "./tool_rules.ts";

/** Options for `openTools()`. */
export interface RunToolOptions extends ToolSelection {
  /** The sandbox of all tools. */
  readonly sandbox: SandboxOptions;
  /** Options of the tool that starts sub-agents. Default: there is none. */
  readonly task?: TaskToolOptions | undefined;
  /** Skills that the model may read. */
  readonly skills: readonly Skill[];
  /** Sources of MCP servers. Default: none. */
  readonly servers?: Omit<ServerOptions, "sandbox"> | undefined;
}

/** The tools of a run. Disposing of them ends the servers and removes temporary files. */
export interface RunTools extends ToolRules, AsyncDisposable {
  /** The sandbox. */
  readonly sandbox: Sandbox;
  /** Policies that select the tools of a request. */
  readonly policies: readonly Policy[];
  /** Problems of servers, as sentences without a full stop. */
  readonly warnings: readonly string[];
  /** Replaces the tools of the agent when a server changes its tools. */
  attach(agent: Agent): void;
}

/**
 * Creates the tools of a run.
 *
 * @throws {UsageError} If a rule names an unknown tool.
 * @throws {ConfigurationError} If the temporary directory does not exist, or the configuration of a server is invalid.
 */
export async function openTools(
  { sandbox: sandboxOptions, task, skills, servers: sources, ...selection }: RunToolOptions,
  host: Pick<Host, "env" | "fetch">,
): Promise<RunTools> {
  const readRoots = skills.map(({ directory }) => directory);
  await using cleanup = new AsyncDisposableStack();
  const sandbox = cleanup.use(openSandbox({ ...sandboxOptions, readRoots }, host.env));
  const servers = sources && cleanup.use(await connectServers({ ...sources, sandbox }, host));
  const rules = resolveToolRules(selection, [
    ...createBasicTools(createToolKit(sandbox)),
    ...(task ? [createTaskTool(task)] : []),
    ...await createSkillTools(skills),
    ...servers?.tools ?? [],
  ]);
  const isSelected = (tool: AgentTool) =>
    resolveToolRules({ ...selection, allowedTools: [] }, [tool], { ignoresUnknown: true })
      .tools.length > 0;
  const owned = cleanup.move();
  return {
    ...rules,
    sandbox,
    policies: servers ? [servers.connection.policy] : [],
    warnings: servers?.warnings ?? [],
    attach: (agent) => void servers?.connection.attach(agent, (tools) => tools.filter(isSelected)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function connectServers(
  options: ServerOptions,
  host: Pick<Host, "env" | "fetch">,
): Promise<ConnectedServers | undefined> {
  const { connectServers } = await importLate<typeof import("../mcp/connect_servers.ts")>(
    "../mcp/connect_servers.ts",
    import.meta.url,
  );
  return await connectServers(options, host);
}

/** Creates the tool that reads skills, if there are any. */
async function createSkillTools(skills: readonly Skill[]): Promise<AgentTool[]> {
  if (skills.length === 0) return [];
  const { skillTool } = await importLate<typeof import("../../src/tools/skills.ts")>(
    "../../src/tools/skills.ts",
    import.meta.url,
  );
  return [skillTool(skills)];
}

/** Creates the sandbox. The working directory exists, so that a missing directory is the temporary one. */
function openSandbox(
  options: SandboxOptions,
  env: Host["env"],
): ReturnType<typeof createSandbox> {
  try {
    return createSandbox(options);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new ConfigurationError(
      `The temporary directory ${JSON.stringify(env("TMPDIR") ?? "")} does not exist`,
      "Set TMPDIR to an existing directory.",
    );
  }
}
