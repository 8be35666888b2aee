/**
 * `swink rules why`: explains what would be decided about a call.
 *
 * @module
 */

import type { AgentTool, JsonObject } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { resolveAliases } from "../../src/tools/kit/tool_names.ts";
import { codingTools, createSandbox, type Sandbox, skillTool } from "../../src/tools/mod.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { getHomeDirectory } from "../host/program_directories.ts";
import { findCurrentSources } from "../project/open_project.ts";
import { listSkillDirectories } from "../project/project_content.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { loadCurrentConfig, parseConfiguredSettings } from "../run/settings/configured_settings.ts";
import {
  addEditingTools,
  createSandboxOptions,
  EDITING_TOOLS,
  getApprovalMode,
  hasCommands,
} from "../run/settings/permissions.ts";
import type { RunSettings } from "../run/settings/settings.ts";
import { resolveToolRules } from "../run/settings/tool_rules.ts";
import { createTaskTool } from "../run/tools/task_tool.ts";
import { createGate } from "./create_gate.ts";

/** Prints what would be decided about a call in a run that has no options but those of the configuration. */
export async function explainCall(name: string, call: string, host: Host): Promise<ExitCode> {
  const settings = parseConfiguredSettings(await loadCurrentConfig(host));
  const readOnly = settings.permissionMode === "plan";
  await using sandbox = createSandbox({
    ...createSandboxOptions({ ...settings, readOnly }),
    readRoots: await findSkillDirectories(host),
  });
  const [toolName = name] = resolveAliases(name);
  const available = listTools(sandbox, { readOnly, toolName });
  const tool = available.find((candidate) => candidate.name === toolName);
  if (!tool) {
    const names = available.map((candidate) => candidate.name).join(", ");
    throw new UsageError(`Unknown tool ${JSON.stringify(name)}`, `Tools: ${names}`);
  }
  const args = parseArguments(toolName, call);
  const removal = findRemoval(tool, { available, settings, readOnly });
  const rows = removal === undefined
    ? await explainDecision({ tool, args }, { available, settings, sandbox })
    : [["decision", describeDecision("denied")], ["reason", removal]];
  await host.terminal.output.write(formatTable(rows, getTableOptions(host)));
  return ExitCode.ok;
}

/** Returns the directories with skills of the user, and of the current project if it is trusted; a run may read them. */
async function findSkillDirectories(host: Host): Promise<string[]> {
  const { programs } = await findCurrentSources(host);
  return [programs?.root, getHomeDirectory(host.env)].flatMap((parent) =>
    parent ? listSkillDirectories(parent) : []
  );
}

/** Lists the tools that a run can have. Those of a server are not known: the one that is asked about is among them. */
function listTools(
  sandbox: Sandbox,
  { readOnly, toolName }: { readonly readOnly: boolean; readonly toolName: string },
): AgentTool[] {
  return [
    ...codingTools({ sandbox }),
    createTaskTool({ systemPrompt: "", policies: [], readOnly }),
    skillTool([]),
    ...(isServerTool(toolName) ? [createServerTool(toolName)] : []),
  ];
}

/** Whether a name is that of a tool of an MCP server. */
function isServerTool(name: string): boolean {
  return /^mcp__.+__./.test(name);
}

/** Creates a tool like those of a server, which is not started: all of them need approval, and may reach other machines. */
function createServerTool(name: string): AgentTool {
  return {
    name,
    description: "",
    parameters: { type: "object" },
    requiresApproval: true,
    risk: "network",
    execute: () => Promise.resolve(""),
  };
}

/** Names of the argument that a single text is for. */
const TEXT_ARGUMENTS: Readonly<Record<string, string>> = {
  bash: "command",
  search_files: "pattern",
  task: "prompt",
  skill: "name",
};

function parseArguments(name: string, call: string): JsonObject {
  const isJson = call.trimStart().startsWith("{");
  if (!isJson && isServerTool(name)) {
    throw new UsageError(`The arguments of ${name} must be JSON`, `Example: '{"id":1}'`);
  }
  if (!isJson) return { [TEXT_ARGUMENTS[name] ?? "path"]: call };
  try {
    return JSON.parse(call);
  } catch (error) {
    throw new UsageError(`The arguments are not valid JSON: ${getErrorMessage(error)}`);
  }
}

interface RunTools {
  /** The tools that a run can have. */
  readonly available: readonly AgentTool[];
  readonly settings: RunSettings;
}

/** Returns why a run does not have a tool; `undefined` if it has it. */
function findRemoval(
  tool: AgentTool,
  { available, settings, readOnly }: RunTools & { readonly readOnly: boolean },
): string | undefined {
  const { name } = tool;
  const { tools, deny } = resolveToolRules(settings, available);
  const { tools: others } = resolveToolRules(
    { allowedTools: [], disallowedTools: deny },
    available,
  );
  if (!others.includes(tool)) return `disallowed_tools removes the tool ${name}`;
  const canChange = EDITING_TOOLS.includes(name) || isServerTool(name) ||
    (name === "bash" && !hasCommands({ ...settings, readOnly }));
  if (readOnly && canChange) return `plan mode has no tool ${name}`;
  return tools.includes(tool) ? undefined : `tools does not name ${name}`;
}

interface ExplainedCall {
  readonly tool: AgentTool;
  readonly args: JsonObject;
}

/** Returns the decision about a call of a tool that a run has, and its reason, as rows of a table. */
async function explainDecision(
  { tool, args }: ExplainedCall,
  { available, settings, sandbox }: RunTools & { readonly sandbox: Sandbox },
): Promise<string[][]> {
  const { permissionMode } = settings;
  const { allow, deny } = resolveToolRules(settings, available);
  const gate = createGate({ allow: addEditingTools(allow, permissionMode), deny }, {
    sandbox,
    mode: getApprovalMode(permissionMode),
  });
  const { decision, risk } = await gate.explain({ name: tool.name, arguments: args, tool });
  // The tools check the path of a call after its approval.
  const problem = decision.type === "denied"
    ? undefined
    : await findFileProblem(sandbox, { name: tool.name, args });
  if (problem !== undefined) {
    return [["decision", describeDecision("denied")], ["risk", risk], ["reason", problem]];
  }
  return [
    ["decision", describeDecision(decision.type)],
    ["risk", risk],
    ...(permissionMode === "default" ? [] : [["mode", permissionMode]]),
    ...("reason" in decision && decision.reason !== undefined ? [["reason", decision.reason]] : []),
    ...("rule" in decision && decision.rule !== undefined ? [["rule", decision.rule]] : []),
  ];
}

/** The access of the tools to the file or directory of their call. */
const ACCESS: Readonly<Record<string, "read" | "write">> = {
  read_file: "read",
  list_directory: "read",
  search_files: "read",
  write_file: "write",
  edit_file: "write",
};

/** Returns why the sandbox refuses the file or directory of a call; `undefined` if it does not. */
async function findFileProblem(
  { files }: Pick<Sandbox, "files">,
  { name, args: { path } }: { readonly name: string; readonly args: JsonObject },
): Promise<string | undefined> {
  const access = ACCESS[name];
  if (access === undefined || typeof path !== "string") return undefined;
  try {
    await files.resolve(path, access);
    return undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}

function describeDecision(type: string): string {
  switch (type) {
    case "asked":
      return "asks, or refuses where no user can be asked";
    case "denied":
      return "refuses";
    default:
      return "runs without asking";
  }
}
