/**
 * Creates the agent of a run from model, tools, approval and system prompt.
 *
 * @module
 */

import type { AgentTool, ApprovalMode, ModelSpec, Policy } from "../../mod.ts";
import { Agent } from "../../src/agent/agent.ts";
import { prices } from "../../adapters/catalog/catalog.ts";
// Not mod.ts, which loads every adapter: connect() loads one of them.
import { connect, keyVariables, providerNames, urlVariable } from "../../adapters/connect.ts";
import type { ProviderOptions } from "../../adapters/mod.ts";
// Not mod.ts, which loads the tools and approval rules that the first request does not need.
import { codingTools } from "../../src/tools/coding_tools.ts";
import type { Sandbox, SandboxOptions, SandboxReport, Skill } from "../../src/tools/mod.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { RunSettings } from "./settings.ts";
import type { Host } from "../host/host.ts";
import type { Input } from "../host/terminal.ts";
import { importLate } from "../host/import_late.ts";
import { VERSION } from "../host/version.ts";
import { CallApproval } from "./call_approval.ts";
import { chooseModel } from "./model_choice.ts";
import { didYouMean } from "../command_line/suggestion.ts";
import { createRetryStrategy } from "./retry_strategy.ts";
import type { LoadedProject } from "../project/load_project.ts";
import { createSystemPrompt, formatInstructions } from "./system_prompt.ts";
import { resolveToolRules } from "./tool_rules.ts";

/** Options for `setUpAgent()`. */
export interface AgentSetupOptions extends
  Omit<
    RunSettings,
    | "outputFormat"
    | "patch"
    | "verbosity"
    | "passEnvironment"
    | "isModelGiven"
    | "session"
    | "fallbackModels"
    | "addedDirectories"
    | "images"
    | "schema"
    | "lastMessageFile"
  > {
  /** Further directories in which the tools may read and write. Default: none. */
  readonly addedDirectories?: readonly string[];
  /** Models that continue when the model fails. Default: none. */
  readonly fallbackModels?: readonly ModelSpec[];
  /** Names of environment variables of this program to pass to commands. */
  readonly passEnvironment?: readonly string[];
  /** Environment variables of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Instructions and skills. Default: none. */
  readonly project?: Pick<LoadedProject, "instructions" | "skills">;
  /** Policies in addition to those of the limits. Default: none. */
  readonly policies?: readonly Policy[];
  /** Whether a key is required. Default: `true`, except for a replay. */
  readonly needsKey?: boolean;
  /** Date for the system prompt. Default: the current one. */
  readonly today?: Date;
  /** Ends the wait for a key. */
  readonly signal?: AbortSignal;
}

/** An agent and its sandbox. Disposing of it removes the temporary files of the tools. */
export interface AgentSetup extends AsyncDisposable {
  /** The agent. */
  readonly agent: Agent;
  /** The model with which the agent starts. */
  readonly model: ModelSpec;
  /** The calls that require approval. */
  readonly approvalMode: ApprovalMode;
  /** Whether the user can be asked. */
  readonly isInteractive: boolean;
  /** Names of the tools that were refused because approval was not possible. */
  readonly refused: readonly string[];
  /** Reports which rules of the sandbox the kernel enforces. */
  describeSandbox(): Promise<SandboxReport>;
}

/**
 * Creates an agent for a directory.
 *
 * @throws {UsageError} If a rule names an unknown tool.
 * @throws {ConfigurationError} If no model is configured, or its provider is unknown.
 */
export async function setUpAgent(options: AgentSetupOptions, host: Host): Promise<AgentSetup> {
  const { env, fetch } = host;
  const { cwd, net, maxTurns, environment, passEnvironment = [] } = options;
  const { thinkingLevel } = options;
  const chosen = await chooseModel(options, host);
  const model = thinkingLevel === undefined ? chosen : { ...chosen, thinkingLevel };
  const fallbackModels = options.fallbackModels ?? [];
  const confinement = options.sandbox;
  // The user has confirmed a working directory with the home directory.
  const homeAccess = "allow";
  const { skills = [] } = options.project ?? {};
  const readRoots = skills.map(({ directory }) => directory);
  const sandbox = openSandbox(
    {
      cwd,
      net,
      environment,
      passEnvironment,
      confinement,
      homeAccess,
      readRoots,
      writeRoots: options.addedDirectories ?? [],
    },
    env,
  );
  const { tools, allow, deny } = resolveToolRules(options, [
    ...codingTools({ cwd, sandbox }),
    ...await createSkillTools(skills),
  ]);
  const { permissionMode } = options;
  const mode = permissionMode === "bypass" ? "bypassed" : "smart";
  const approved = permissionMode === "acceptEdits" ? [...allow, ...EDITING_TOOLS] : allow;
  const keyboard = findKeyboard(host);
  const getMessages = () => agent.state.messages;
  const approval = new CallApproval({
    mode,
    tools,
    allow: approved,
    deny,
    sandbox,
    host,
    keyboard,
    getMessages,
  });
  await approval.checkRules();
  const agent: Agent = new Agent({
    model,
    streamFn: connect({
      fetch,
      env,
      headers: { "user-agent": `swink/${VERSION}` },
      providers: await getProviders([model, ...fallbackModels], options, host),
    }),
    prices,
    systemPrompt: createPrompt(options, host),
    tools,
    // The gate enforces forbidden calls in every mode, so the agent must pass it all calls.
    approvalMode: deny.length > 0 ? "enabled" : mode,
    approve: approval.approve,
    retry: createRetryStrategy(),
    fallback: fallbackModels.map((fallback) => ({ model: fallback })),
    policies: [...await createLimits(options), ...options.policies ?? []],
    ...(maxTurns !== undefined && { maxTurns }),
  });
  return {
    agent,
    model,
    approvalMode: mode,
    isInteractive: keyboard !== undefined,
    get refused() {
      return approval.refused;
    },
    describeSandbox: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
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
function openSandbox(options: SandboxOptions, env: Host["env"]): Sandbox {
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

/** The tools that change files; their sandbox restricts them to the working directory. */
const EDITING_TOOLS = ["write_file", "edit_file"];

/** Creates the policies for the limits of a run, if there are any. */
async function createLimits(
  { maxCost: cost, timeoutMs: elapsedMs }: AgentSetupOptions,
): Promise<Policy[]> {
  if (cost === undefined && elapsedMs === undefined) return [];
  const { budget } = await importLate<typeof import("../../src/policies/mod.ts")>(
    "../../src/policies/mod.ts",
    import.meta.url,
  );
  return [budget({ cost, elapsedMs, preflight: cost !== undefined })];
}

/** Returns the options of the providers of some models, by name. */
async function getProviders(
  [first, ...others]: readonly ModelSpec[],
  options: AgentSetupOptions,
  host: Pick<Host, "env">,
): Promise<Record<string, ProviderOptions>> {
  if (!first) return {};
  // The base URL of the command line is that of the model, not of its fallbacks.
  const { baseUrl: _baseUrl, ...shared } = options;
  const providers = { [first.provider]: await getProviderOptions(first, options, host) };
  for (const model of others) {
    providers[model.provider] ??= await getProviderOptions(model, shared, host);
  }
  return providers;
}

/** Returns the options of the provider. With a base URL, any provider name is valid and the key is optional. */
async function getProviderOptions(
  { provider }: ModelSpec,
  { baseUrl, replay, signal, needsKey = replay === undefined, providers = {} }: AgentSetupOptions,
  host: Pick<Host, "env">,
): Promise<ProviderOptions> {
  const { baseUrl: configuredUrl, keyCommand } = providers[provider] ?? {};
  const ownUrl = baseUrl ??
    (hasVariable([urlVariable(provider)], host) ? undefined : configuredUrl);
  const names = providerNames();
  if (ownUrl === undefined && !names.includes(provider)) {
    const advice = `Providers: ${names.join(", ")}. Any other requires --base-url.`;
    const message = `Unknown provider "${provider}"${didYouMean(provider, names)}`;
    throw new ConfigurationError(message, advice);
  }
  const apiKey = await getKey(provider, { needsKey, keyCommand, signal }, host);
  const isKeyless = baseUrl !== undefined || !names.includes(provider);
  const hint = `set ${keyVariables(provider).join(" or ")}, or run swink login ${provider}`;
  return {
    ...(ownUrl !== undefined && { baseUrl: ownUrl }),
    ...(apiKey !== undefined && { apiKey }),
    ...(isKeyless ? { keyless: true } : { keyHint: hint }),
  };
}

/** Returns the key of a provider if it is not in an environment variable, which the adapter reads. */
async function getKey(
  provider: string,
  { needsKey, keyCommand: command, signal }: {
    readonly needsKey: boolean;
    readonly keyCommand: string | undefined;
    readonly signal: AbortSignal | undefined;
  },
  host: Pick<Host, "env">,
): Promise<string | undefined> {
  if (!needsKey) return "unused";
  if (hasVariable(keyVariables(provider), host)) return undefined;
  const { findKey } = await importLate<typeof import("../credentials/find_key.ts")>(
    "../credentials/find_key.ts",
    import.meta.url,
  );
  return await findKey(provider, { command, signal }, host);
}

function hasVariable(
  names: readonly (string | undefined)[],
  { env }: Pick<Host, "env">,
): boolean {
  return names.some((name) => name !== undefined && (env(name) ?? "") !== "");
}

/** Returns the keyboard if a user at the terminal can see a question and answer it. */
function findKeyboard({ terminal }: Host): Input | undefined {
  return terminal.messages.isTerminal ? terminal.keyboard : undefined;
}

function createPrompt(options: AgentSetupOptions, host: Host): string {
  const { appendedPrompt } = options;
  const prompt = createBasicPrompt(options, host);
  return appendedPrompt === undefined ? prompt : `${prompt}\n\n${appendedPrompt}`;
}

function createBasicPrompt(options: AgentSetupOptions, host: Host): string {
  const { cwd, net, today, systemPrompt, project: { instructions = [] } = {} } = options;
  if (systemPrompt !== undefined) return systemPrompt + formatInstructions(instructions);
  const date = today ?? new Date(host.now());
  return createSystemPrompt({
    cwd,
    net,
    instructions,
    platform: Deno.build.os,
    date: date.toISOString().slice(0, 10),
    attended: findKeyboard(host) !== undefined,
  });
}
