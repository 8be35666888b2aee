/**
 * The actions of `swink rules`.
 *
 * @module
 */

import type { AgentTool, JsonObject } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors.ts";
import { approvalGate, codingTools, createSandbox } from "../../src/tools/mod.ts";
import { setKey } from "../config/config_actions.ts";
import { formatConfigProblem, formatOrigin } from "../config/config_value.ts";
import { type Config, loadConfig } from "../config/load_config.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { getProgramDirectories } from "../host/program_directories.ts";
import { findTrustedRoot } from "../project/open_project.ts";
import { toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { resolveToolRules, splitRules } from "../run/tool_rules.ts";
import { resolveAliases } from "../../src/tools/kit/tool_names.ts";

/** The effect of a rule. */
export type RuleEffect = "allow" | "deny";

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
  await using sandbox = createSandbox({ cwd: Deno.cwd(), homeAccess: "allow" });
  // Reports unknown tools and invalid patterns.
  createGate({ allow: [], deny: [] }, { sandbox, [effect]: [first] });
  const directories = getProgramDirectories(host.env);
  const { settings } = await loadConfig({ directories }, () => undefined);
  const value = settings.get(KEYS[effect])?.value;
  const rules = Array.isArray(value) ? value : [];
  const isKnown = rules.includes(first);
  if (!isKnown) {
    await setKey({ key: KEYS[effect], value: JSON.stringify([...rules, first]) }, host);
  }
  const end = isKnown ? "already exists" : "is added";
  await host.terminal.messages.write(`The rule ${effect} ${toPlainText(first)} ${end}\n`);
  return ExitCode.ok;
}

/** Prints what the gate of a run would decide about a call. */
export async function explainCall(name: string, call: string, host: Host): Promise<ExitCode> {
  const config = await loadCurrentConfig(host);
  await using sandbox = createSandbox({ cwd: Deno.cwd(), homeAccess: "allow" });
  const { gate, tools } = createGate({
    allow: getRules(config, "allow"),
    deny: getRules(config, "deny"),
  }, { sandbox });
  const [toolName = name] = resolveAliases(name);
  const tool = tools.find((candidate) => candidate.name === toolName);
  if (!tool) {
    const names = tools.map((candidate) => candidate.name).join(", ");
    throw new UsageError(`Unknown tool ${JSON.stringify(name)}`, `Tools: ${names}`);
  }
  const args = parseArguments(tool, call);
  const { decision, risk } = await gate.explain({ name: tool.name, arguments: args, tool });
  const rows = [
    ["decision", describeDecision(decision.type)],
    ["risk", risk],
    ...("reason" in decision && decision.reason !== undefined ? [["reason", decision.reason]] : []),
    ...("rule" in decision && decision.rule !== undefined ? [["rule", decision.rule]] : []),
  ];
  await host.terminal.output.write(formatTable(rows, getTableOptions(host)));
  return ExitCode.ok;
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

interface RuleTexts {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

interface GateOptions extends Partial<RuleTexts> {
  readonly sandbox: ReturnType<typeof createSandbox>;
}

/** Creates the gate of a run. @throws {UsageError} If a rule is invalid. */
function createGate(
  configured: RuleTexts,
  { sandbox, allow: allowed = [], deny: denied = [] }: GateOptions,
) {
  const available = codingTools({ sandbox });
  const { tools, allow, deny } = resolveToolRules({
    allowedTools: [...configured.allow, ...allowed],
    disallowedTools: [...configured.deny, ...denied],
  }, available);
  try {
    return { gate: approvalGate({ mode: "smart", allow, deny, sandbox }), tools };
  } catch (error) {
    throw new UsageError(getErrorMessage(error));
  }
}

/** Names of the argument that a single text is for. */
const TEXT_ARGUMENTS: Readonly<Record<string, string>> = {
  bash: "command",
  search_files: "pattern",
};

function parseArguments({ name }: AgentTool, call: string): JsonObject {
  if (!call.trimStart().startsWith("{")) return { [TEXT_ARGUMENTS[name] ?? "path"]: call };
  try {
    return JSON.parse(call);
  } catch (error) {
    throw new UsageError(`The arguments are not valid JSON: ${getErrorMessage(error)}`);
  }
}

/** Loads the configuration of a run in the current directory. */
async function loadCurrentConfig(host: Host): Promise<Config> {
  const directories = getProgramDirectories(host.env);
  const projectRoot = directories && await findTrustedRoot(Deno.cwd(), { directories, host });
  const config = await loadConfig({ directories, projectRoot }, host.env);
  const error = config.problems.find(({ type }) => type === "error");
  if (error) throw new ConfigurationError(formatConfigProblem(error));
  return config;
}

function getRules({ settings }: Config, effect: RuleEffect): string[] {
  const value = settings.get(KEYS[effect])?.value;
  return Array.isArray(value) ? value.flatMap((text) => splitRules(String(text))) : [];
}

function getSource({ settings }: Config, effect: RuleEffect): string {
  const setting = settings.get(KEYS[effect]);
  return setting ? formatOrigin(setting.origin) : "";
}
