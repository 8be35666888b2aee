/**
 * The tools of a run: those of a coding agent, the skills, and those of MCP servers, in one sandbox.
 *
 * @module
 */

import type { Agent, AgentTool, Policy } from "../../../mod.ts";
import type { McpConnection } from "../../../src/mcp/mod.ts";
// Not mod.ts, which loads the tools and approval rules that the first request does not need.
import { createBasicTools, createToolKit } from "../../../src/tools/basic_tools.ts";
import type { ChangeLog, Sandbox, SandboxOptions, Skill } from "../../../src/tools/mod.ts";
import { createSandbox } from "../../../src/tools/sandbox/local_sandbox.ts";
import { ConfigurationError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import type { ConnectedServers, ServerOptions } from "../../mcp/connect_servers.ts";
import { resolveToolRules, type ToolRules, type ToolSelection } from "../settings/tool_rules.ts";
import type { EditorTools } from "./editor_tools.ts";
import { createTaskTool, TASK_TOOL, type TaskToolOptions } from "./task_tool.ts";

/** Maximum wait for the record of the changes of aborted commands. */
const RECORDING_MS = 5_000;

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
  /** Records the changes of files. Default: they are not recorded. */
  readonly changeLog?: ChangeLog | undefined;
  /** Tools that an editor provides. Default: none. */
  readonly editor?: EditorTools | undefined;
}

/** The tools of a run. Disposing of them ends the servers and removes temporary files. */
export interface RunTools extends ToolRules, AsyncDisposable {
  /** The sandbox. */
  readonly sandbox: Sandbox;
  /** Policies that select the tools of a request. */
  readonly policies: readonly Policy[];
  /** Returns the problems of servers since the last call, as sentences without a full stop. */
  takeWarnings(): readonly string[];
  /** The MCP servers, if there are any. */
  readonly servers: McpConnection | undefined;
  /** Runs commands of the user, also if the agent has no such tool. */
  readonly shell: AgentTool;
  /** Creates the tools for plan mode that a sandbox without write access needs; they are disposed of with the others. */
  readonly createReadingTools: () => readonly AgentTool[];
  /**
   * Resolves when the changes of commands that were aborted are recorded, or after {@linkcode RECORDING_MS}: an undo before
   * would be that of another turn, and the end of the session would lose them.
   */
  untilRecorded(): Promise<void>;
  /** Replaces the tools of the agent when a server changes its tools; returns a function that ends this. */
  attach(agent: Agent): () => void;
}

/**
 * Creates the tools of a run.
 *
 * @throws {UsageError} If a rule names an unknown tool.
 * @throws {ConfigurationError} If the temporary directory does not exist, or the configuration of a server is invalid.
 */
export async function openTools(
  { sandbox: sandboxOptions, task, skills, servers: sources, changeLog, editor, ...selection }:
    RunToolOptions,
  host: Pick<Host, "env" | "fetch">,
): Promise<RunTools> {
  const readRoots = skills.map(({ directory }) => directory);
  await using cleanup = new AsyncDisposableStack();
  const sandbox = cleanup.use(openSandbox({ ...sandboxOptions, readRoots }, host.env));
  const servers = sources && cleanup.use(await connectServers({ ...sources, sandbox }, host));
  const kit = await createKit(sandbox, changeLog);
  const ownTools = createBasicTools(kit);
  const basicTools = editor ? await replaceTools(ownTools, editor, kit) : ownTools;
  const rules = resolveToolRules(selection, [
    ...basicTools,
    ...(task ? [createTaskTool(task)] : []),
    ...await createSkillTools(skills),
    ...servers?.tools ?? [],
  ]);
  const isSelected = (tool: AgentTool) =>
    resolveToolRules({ ...selection, allowedTools: [] }, [tool], { ignoresUnknown: true })
      .tools.length > 0;
  const owned = cleanup.move();
  const createReadingTools = () => {
    const hasTool = (tool: string) => rules.tools.some(({ name }) => name === tool);
    const tasks = task && hasTool(TASK_TOOL) ? [createTaskTool({ ...task, readOnly: true })] : [];
    // Commands that nothing confines could change something.
    if (sandboxOptions.confinement === "off" || !hasTool("bash")) return tasks;
    const reading = owned.use(
      openSandbox({ ...sandboxOptions, readRoots, net: "off", readOnly: true }, host.env),
    );
    return [findShell(createBasicTools(createToolKit(reading))), ...tasks];
  };
  return {
    ...rules,
    sandbox,
    policies: servers ? [servers.connection.policy] : [],
    takeWarnings: () => servers?.takeWarnings() ?? [],
    servers: servers?.connection,
    shell: findShell(ownTools),
    createReadingTools,
    untilRecorded: () => untilRecorded(kit),
    attach: (agent) =>
      servers?.connection.attach(agent, (tools) => tools.filter(isSelected)) ?? (() => {}),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Creates the state that the tools share. */
async function createKit(
  sandbox: Sandbox,
  changeLog: ChangeLog | undefined,
): Promise<ReturnType<typeof createToolKit>> {
  const kit = createToolKit(sandbox);
  if (!changeLog || sandbox.readOnly) return kit;
  const { CommandChanges } = await importLate<
    typeof import("../../../src/tools/changes/command_changes.ts")
  >("../../../src/tools/changes/command_changes.ts", import.meta.url);
  return { ...kit, changeLog, commandChanges: new CommandChanges(sandbox, changeLog) };
}

async function untilRecorded(
  { commandChanges }: Pick<ReturnType<typeof createToolKit>, "commandChanges">,
): Promise<void> {
  if (!commandChanges) return;
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, RECORDING_MS);
  await Promise.race([commandChanges.untilRecorded(), timeout]);
  clearTimeout(timer);
}

async function replaceTools(
  ...options: Parameters<typeof import("./editor_tools.ts").replaceTools>
): Promise<AgentTool[]> {
  const { replaceTools } = await importLate<typeof import("./editor_tools.ts")>(
    "./editor_tools.ts",
    import.meta.url,
  );
  return replaceTools(...options);
}

function findShell(tools: readonly AgentTool[]): AgentTool {
  const shell = tools.find(({ name }) => name === "bash");
  if (!shell) throw new Error("The basic tools have no shell");
  return shell;
}

async function connectServers(
  options: ServerOptions,
  host: Pick<Host, "env" | "fetch">,
): Promise<ConnectedServers | undefined> {
  const { connectServers } = await importLate<typeof import("../../mcp/connect_servers.ts")>(
    "../../mcp/connect_servers.ts",
    import.meta.url,
  );
  return await connectServers(options, host);
}

/** Creates the tool that reads skills, if there are any. */
async function createSkillTools(skills: readonly Skill[]): Promise<AgentTool[]> {
  if (skills.length === 0) return [];
  const { skillTool } = await importLate<typeof import("../../../src/tools/skills.ts")>(
    "../../../src/tools/skills.ts",
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
