/**
 * The actions of `swink rules`.
 *
 * @module
 */

import type { AgentTool, JsonObject } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors.ts";
import {
  type ApprovalGate,
  approvalGate,
  type ApprovalGateOptions,
  codingTools,
  createSandbox,
  type Sandbox,
  skillTool,
} from "../../src/tools/mod.ts";
import { changeKey } from "../config/config_actions.ts";
import { formatOrigin } from "../config/config_value.ts";
import type { Config } from "../config/load_config.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { getProgramDirectories } from "../host/program_directories.ts";
import { findTrustedRoot } from "../project/open_project.ts";
import { listSkillDirectories } from "../project/project_content.ts";
import { toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { loadCurrentConfig, parseConfiguredSettings } from "../run/configured_settings.ts";
import { EDITING_TOOLS } from "../run/setup_agent.ts";
import { createTaskTool } from "../run/task_tool.ts";
import {
  resolveToolRules,
  splitRules,
  type ToolRules,
  type ToolSelection,
} from "../run/tool_rules.ts";
import { resolveAliases } from "../../src/tools/kit/tool_names.ts";

/** The effect of a rule. */
export type RuleEffect = "allow" | "deny";

const OPTIONS = { allow: "allowedTools", deny: "disallowedTools" } as const;

const KEYS: Readonly<Record<RuleEffect, string>> = {
  allow: "allowed_tools",
  deny: "disallowed_tools",
};

/** Lists the rules of the configuration: forbidden calls first, because they precede all others. */
export async function listRules(host: Host): Promise<ExitCode> {
  const config = await loadCurrentConfig(host);
  const rows = (["deny", "allow"] as const).flatMap((effect) =>
    getRules(config, effect).map((rule) => [effect, rule, getSource(config, effect)])
  );
  await host.terminal.output.write(formatTable(rows, getTableOptions(host)));
  if (rows.length === 0) {
    await host.terminal.messages.write("No rule: add one with swink rules add\n");
  }
  return ExitCode.ok;
}

/** Adds a rule to the user's file. */
export async function addRule(effect: RuleEffect, rule: string, host: Host): Promise<ExitCode> {
  const [first, ...others] = splitRules(rule);
  if (first === undefined || others.length > 0) {
    throw new UsageError(`${JSON.stringify(rule)} is not one rule`, "Example: bash(git log *)");
  }
  await checkRules({ allowedTools: [], disallowedTools: [], [OPTIONS[effect]]: [first] });
  let isKnown = false;
  await changeKey(KEYS[effect], (value) => {
    const rules = Array.isArray(value) ? value : [];
    isKnown = rules.includes(first);
    return isKnown ? rules : [...rules, first];
  }, host);
  const end = isKnown ? "already exists" : "is added";
  await host.terminal.messages.write(`The rule ${effect} ${toPlainText(first)} ${end}\n`);
  return ExitCode.ok;
}

/**
 * Checks rules as a run does.
 *
 * @throws {UsageError} If a tool is unknown, or a pattern is invalid.
 */
export async function checkRules(rules: ToolSelection): Promise<void> {
  await using sandbox = createSandbox({ cwd: Deno.cwd(), homeAccess: "allow" });
  createGate(resolveToolRules(rules, codingTools({ sandbox })), { sandbox, mode: "smart" });
}

/** Prints what would be decided about a call in a run that has no options but those of the configuration. */
export async function explainCall(name: string, call: string, host: Host): Promise<ExitCode> {
  const settings = parseConfiguredSettings(await loadCurrentConfig(host));
  const { cwd, net, addedDirectories, permissionMode } = settings;
  const readOnly = permissionMode === "plan";
  const isUnconfined = readOnly && settings.sandbox === "off";
  await using sandbox = createSandbox({
    cwd,
    net,
    readOnly,
    homeAccess: "allow",
    writeRoots: addedDirectories,
    readRoots: await findSkillDirectories(host),
    confinement: isUnconfined ? "auto" : settings.sandbox,
  });
  const [toolName = name] = resolveAliases(name);
  const available = [
    ...codingTools({ sandbox }),
    createTaskTool({ systemPrompt: "", policies: [], readOnly }),
    skillTool([]),
    ...(isServerTool(toolName) ? [describeServerTool(toolName)] : []),
  ];
  const tool = available.find((candidate) => candidate.name === toolName);
  if (!tool) {
    const names = available.map((candidate) => candidate.name).join(", ");
    throw new UsageError(`Unknown tool ${JSON.stringify(name)}`, `Tools: ${names}`);
  }
  const args = parseArguments(toolName, call);
  const { tools, allow, deny } = resolveToolRules(settings, available);
  const { tools: others } = resolveToolRules(
    { allowedTools: [], disallowedTools: deny },
    available,
  );
  const writing = isUnconfined ? [...EDITING_TOOLS, "bash"] : EDITING_TOOLS;
  const isWriting = writing.includes(toolName) || isServerTool(toolName);
  if (!tools.includes(tool) || (readOnly && isWriting)) {
    return await printRows([
      ["decision", describeDecision("denied")],
      ["reason", describeRemoval(toolName, { isDisallowed: !others.includes(tool), readOnly })],
    ], host);
  }
  const gate = createGate({
    allow: permissionMode === "acceptEdits" ? [...allow, ...EDITING_TOOLS] : allow,
    deny,
  }, { sandbox, mode: permissionMode === "bypass" ? "bypassed" : "smart" });
  const { decision, risk } = await gate.explain({ name: tool.name, arguments: args, tool });
  // The tools check it after the approval.
  const problem = decision.type === "denied"
    ? undefined
    : await findFileProblem(sandbox, { name: toolName, args });
  if (problem !== undefined) {
    return await printRows([
      ["decision", describeDecision("denied")],
      ["risk", risk],
      ["reason", problem],
    ], host);
  }
  const isDefault = permissionMode === "default";
  return await printRows([
    ["decision", describeDecision(decision.type)],
    ["risk", risk],
    ...(isDefault ? [] : [["mode", permissionMode]]),
    ...("reason" in decision && decision.reason !== undefined ? [["reason", decision.reason]] : []),
    ...("rule" in decision && decision.rule !== undefined ? [["rule", decision.rule]] : []),
  ], host);
}

/** Returns the directories with skills of the user, and of the current project if it is trusted; a run may read them. */
async function findSkillDirectories(host: Host): Promise<string[]> {
  const directories = getProgramDirectories(host.env);
  const root = directories && await findTrustedRoot(Deno.cwd(), { directories, host });
  const home = host.env("HOME") || host.env("USERPROFILE");
  return [root, home].flatMap((parent) => parent ? listSkillDirectories(parent) : []);
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

/** Prints rows that explain a decision. */
async function printRows(rows: readonly (readonly string[])[], host: Host): Promise<ExitCode> {
  await host.terminal.output.write(formatTable(rows, getTableOptions(host)));
  return ExitCode.ok;
}

/** Returns why a run does not have a tool. */
function describeRemoval(
  name: string,
  { isDisallowed, readOnly }: { readonly isDisallowed: boolean; readonly readOnly: boolean },
): string {
  if (isDisallowed) return `disallowed_tools removes the tool ${name}`;
  return readOnly ? `plan mode has no tool ${name}` : `tools does not name ${name}`;
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

/** Creates the gate of a run. @throws {UsageError} If a rule is invalid. */
function createGate(
  { allow, deny }: Pick<ToolRules, "allow" | "deny">,
  { sandbox, mode }: Required<Pick<ApprovalGateOptions, "sandbox" | "mode">>,
): ApprovalGate {
  try {
    return approvalGate({ mode, allow, deny, sandbox });
  } catch (error) {
    throw new UsageError(getErrorMessage(error));
  }
}

/** Whether a name is that of a tool of an MCP server. */
function isServerTool(name: string): boolean {
  return /^mcp__.+__./.test(name);
}

/** Describes a tool of a server, which is not started: all of them need approval, and may reach other machines. */
function describeServerTool(name: string): AgentTool {
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

function getRules({ settings }: Config, effect: RuleEffect): string[] {
  const value = settings.get(KEYS[effect])?.value;
  return Array.isArray(value) ? value.flatMap((text) => splitRules(String(text))) : [];
}

function getSource({ settings }: Config, effect: RuleEffect): string {
  const setting = settings.get(KEYS[effect]);
  return setting ? formatOrigin(setting.origin) : "";
}
