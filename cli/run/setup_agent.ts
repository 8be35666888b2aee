/**
 * Creates the agent of a run from model, tools, approval and system prompt.
 *
 * @module
 */

import type { ApprovalMode, ModelSpec, Policy, StreamFn } from "../../mod.ts";
import { Agent } from "../../src/agent/agent.ts";
import { prices } from "../../adapters/catalog/catalog.ts";
// Not mod.ts, which loads every adapter: connect() loads one of them.
import { connect } from "../../adapters/connect.ts";
import { summarize } from "../../src/memory/context/summarize.ts";
import type { ApprovalPrompt, SandboxReport } from "../../src/tools/mod.ts";
import type { PlanMode } from "../../src/tools/plan/mod.ts";
import type { RunSettings } from "./settings.ts";
import type { Host } from "../host/host.ts";
import type { Input } from "../host/terminal.ts";
import { importLate } from "../host/import_late.ts";
import { VERSION } from "../host/version.ts";
import { CallApproval } from "./call_approval.ts";
import { chooseModel } from "./model_choice.ts";
import { getProviders } from "./provider_options.ts";
import { openTools, type RunToolOptions } from "./run_tools.ts";
import { createRetryStrategy } from "./retry_strategy.ts";
import type { LoadedProject } from "../project/load_project.ts";
import {
  createSystemPrompt,
  createTaskPrompt,
  formatInstructions,
  type PromptEnvironment,
} from "./system_prompt.ts";

/** Options for `setUpAgent()`. */
export interface AgentSetupOptions extends
  Omit<
    RunSettings,
    | "inputFormat"
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
    | "servers"
    | "hooks"
    | "lastMessageFile"
    | "debugFile"
  > {
  /** Further directories in which the tools may read and write. Default: none. */
  readonly addedDirectories?: readonly string[];
  /** Models that continue when the model fails. Default: none. */
  readonly fallbackModels?: readonly ModelSpec[];
  /** Names of environment variables of this program to pass to commands. */
  readonly passEnvironment?: readonly string[];
  /** Environment variables of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sources of MCP servers. Default: none. */
  readonly servers?: RunToolOptions["servers"];
  /** Instructions, skills and state of the repository. Default: none. */
  readonly project?: Pick<LoadedProject, "instructions" | "skills" | "gitState">;
  /** Whether the run continues a session in plan mode. Default: `false`. */
  readonly continuesPlan?: boolean | undefined;
  /** Asks about tool calls instead of the terminal. Default: none. */
  readonly ask?: ApprovalPrompt | undefined;
  /** Wraps the stream function. Default: none. */
  readonly wrapStreamFn?: (streamFn: StreamFn) => StreamFn;
  /** Policies in addition to those of the limits. Default: none. */
  readonly policies?: readonly Policy[];
  /** Policies of sub-agents, in addition to those of the run. Default: none. */
  readonly subAgentPolicies?: readonly Policy[];
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
  /** Plan mode, if the run or its session is in it. */
  readonly planMode: PlanMode | undefined;
  /** The calls that require approval. */
  readonly approvalMode: ApprovalMode;
  /** Whether the user can be asked. */
  readonly isInteractive: boolean;
  /** Missing variables and problems of MCP servers, as sentences without a full stop. */
  readonly warnings: readonly string[];
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
  const { maxTurns, thinkingLevel } = options;
  const chosen = await chooseModel(options, host);
  const model = thinkingLevel === undefined ? chosen : { ...chosen, thinkingLevel };
  const { fallbackModels = [], passEnvironment = [] } = options;
  const providers = await getProviders([model, ...fallbackModels], options, host);
  await using cleanup = new AsyncDisposableStack();
  const runTools = cleanup.use(await openTools(toToolOptions(options, host), host));
  const { sandbox, tools, allow, deny } = runTools;
  const { permissionMode } = options;
  const mode = permissionMode === "bypass" ? "bypassed" : "smart";
  const approved = permissionMode === "acceptEdits" ? [...allow, ...EDITING_TOOLS] : allow;
  const keyboard = findKeyboard(host);
  const { ask } = options;
  const getMessages = () => agent.state.messages;
  const approval = new CallApproval({
    mode,
    tools,
    allow: approved,
    deny,
    sandbox,
    host,
    keyboard,
    ask,
    getMessages,
  });
  await approval.checkRules();
  const planMode = await loadPlanMode(options);
  const headers = { "user-agent": `swink/${VERSION}` };
  const { wrapStreamFn = (inner) => inner } = options;
  const streamFn = wrapStreamFn(connect({ fetch, env, headers, providers }));
  const contextWindow = (spec: ModelSpec) => streamFn.contextWindow?.(spec);
  const agent: Agent = new Agent({
    model,
    streamFn,
    prices,
    // Also for runs of a session, which keeps the summary.
    transformContext: summarize({ streamFn, contextWindow, prices }),
    systemPrompt: createPrompt(options, host),
    tools,
    // The gate enforces forbidden calls in every mode, so the agent must pass it all calls.
    approvalMode: deny.length > 0 ? "enabled" : mode,
    approve: approval.approve,
    retry: createRetryStrategy(),
    fallback: fallbackModels.map((fallback) => ({ model: fallback })),
    policies: [
      ...(planMode ? [planMode] : []),
      ...await createLimits(options),
      ...runTools.policies,
      ...options.policies ?? [],
    ],
    ...(maxTurns !== undefined && { maxTurns }),
  });
  runTools.attach(agent);
  if (permissionMode === "plan") planMode?.restore(agent);
  const owned = cleanup.move();
  return {
    agent,
    model,
    planMode,
    warnings: [
      ...passEnvironment.flatMap((name) => describeMissing(name, env)),
      ...runTools.warnings,
    ],
    approvalMode: mode,
    isInteractive: (ask ?? keyboard) !== undefined,
    get refused() {
      return approval.refused;
    },
    describeSandbox: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function describeMissing(name: string, env: Host["env"]): string[] {
  if (env(name) !== undefined) return [];
  return [`variable ${name} is not set, so commands do not get it`];
}

function toToolOptions(setupOptions: AgentSetupOptions, host: Host): RunToolOptions {
  const {
    cwd,
    net,
    environment,
    passEnvironment = [],
    sandbox,
    addedDirectories = [],
    project,
    permissionMode,
    disallowedTools,
    servers,
    subAgentPolicies = [],
    ...options
  } = setupOptions;
  const readOnly = permissionMode === "plan";
  const isConfined = sandbox !== "off";
  return {
    ...options,
    // Nothing shows that tools of servers only read.
    servers: readOnly ? undefined : servers,
    // Commands that nothing confines could change something.
    disallowedTools: readOnly && !isConfined ? [...disallowedTools, "bash"] : disallowedTools,
    skills: project?.skills ?? [],
    task: {
      systemPrompt: appendPrompt(
        createTaskPrompt(describeEnvironment(setupOptions, host)),
        setupOptions,
      ),
      policies: subAgentPolicies,
      readOnly,
    },
    sandbox: {
      cwd,
      net,
      environment,
      passEnvironment,
      confinement: readOnly && !isConfined ? "auto" : sandbox,
      readOnly,
      // The user has confirmed a working directory with the home directory.
      homeAccess: "allow",
      writeRoots: addedDirectories,
    },
  };
}

async function loadPlanMode(
  { permissionMode, continuesPlan = false, cwd }: AgentSetupOptions,
): Promise<PlanMode | undefined> {
  if (permissionMode !== "plan" && !continuesPlan) return undefined;
  const { createRunPlanMode } = await importLate<typeof import("./plan_mode.ts")>(
    "./plan_mode.ts",
    import.meta.url,
  );
  return createRunPlanMode(cwd);
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

/** Returns the keyboard if a user at the terminal can see a question and answer it. */
function findKeyboard({ terminal }: Host): Input | undefined {
  return terminal.messages.isTerminal ? terminal.keyboard : undefined;
}

function createPrompt(options: AgentSetupOptions, host: Host): string {
  const { systemPrompt, project: { instructions = [] } = {} } = options;
  const prompt = systemPrompt === undefined
    ? createSystemPrompt(describeEnvironment(options, host))
    : systemPrompt + formatInstructions(instructions);
  return appendPrompt(prompt, options);
}

function appendPrompt(
  prompt: string,
  { appendedPrompt }: Pick<AgentSetupOptions, "appendedPrompt">,
): string {
  return appendedPrompt === undefined ? prompt : `${prompt}\n\n${appendedPrompt}`;
}

function describeEnvironment(options: AgentSetupOptions, host: Host): PromptEnvironment {
  const { cwd, net, today, ask, project: { instructions = [], gitState } = {} } = options;
  const date = today ?? new Date(host.now());
  return {
    cwd,
    net,
    instructions,
    gitState,
    platform: Deno.build.os,
    date: date.toISOString().slice(0, 10),
    attended: (ask ?? findKeyboard(host)) !== undefined,
  };
}
