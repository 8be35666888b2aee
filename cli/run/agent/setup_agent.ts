/**
 * Creates the agent of a run from model, tools, approval and system prompt.
 *
 * @module
 */

import { prices } from "../../../adapters/catalog/catalog.ts";
// Not mod.ts, which loads every adapter: connect() loads one of them.
import { connect } from "../../../adapters/connect.ts";
import type { AgentOptions, ApprovalMode, ModelSpec, Policy, StreamFn } from "../../../mod.ts";
import { Agent } from "../../../src/agent/agent.ts";
import { summarize } from "../../../src/memory/context/summarize.ts";
import type { CompactingTransform } from "../../../src/memory/mod.ts";
import type {
  ApprovalPrompt,
  ChangeLog,
  SandboxNet,
  SandboxReport,
} from "../../../src/tools/mod.ts";
import type { PlanMode } from "../../../src/tools/plan/mod.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import { findKeyboard } from "../../host/terminal.ts";
import { VERSION } from "../../host/version.ts";
import type { ElicitationQuestions } from "../../mcp/ask_elicitation.ts";
import type { LoadedProject } from "../../project/load_project.ts";
import type { SessionServer } from "../../sessions/session_server.ts";
import { CallApproval, type LateApprovalGate } from "../approval/call_approval.ts";
import type { WaitingCallsOptions } from "../approval/waiting_calls.ts";
import { withLocalProvider } from "../model/local_models.ts";
import { chooseModel } from "../model/model_choice.ts";
import { ProviderKeys } from "../model/provider_keys.ts";
import { getOtherProviders, getProviders } from "../model/provider_options.ts";
import { findNamedServer } from "../model/provider_url.ts";
import type { RejectedKeys } from "../model/rejected_keys.ts";
import { createRetries, createRetryStrategy } from "../model/retry_strategy.ts";
import {
  addEditingTools,
  createSandboxOptions,
  getApprovalMode,
  hasCommands,
} from "../settings/permissions.ts";
import type { RunSettings } from "../settings/settings.ts";
import type { EditorTools } from "../tools/editor_tools.ts";
import { openTools, type RunToolOptions, type RunTools } from "../tools/run_tools.ts";
import { createAgentPrompt, createSubAgentPrompt } from "./agent_prompts.ts";

/**
 * Maximum duration of a summary. Models on this device may need minutes for a long prompt; connections have limits of their
 * own.
 */
const SUMMARY_TIMEOUT_MS = 600_000;

/** Options for `setUpAgent()`. */
export interface AgentSetupOptions extends
  Pick<
    RunSettings,
    | "model"
    | "thinkingLevel"
    | "baseUrl"
    | "providers"
    | "replay"
    | "systemPrompt"
    | "appendedPrompt"
    | "cwd"
    | "maxTurns"
    | "maxCost"
    | "timeoutMs"
    | "tools"
    | "allowedTools"
    | "disallowedTools"
    | "permissionMode"
    | "net"
    | "sandbox"
    | "environment"
  > {
  /** Further directories in which the tools may read and write. Default: none. */
  readonly addedDirectories?: readonly string[];
  /** Models that continue when the model fails. Default: none. */
  readonly fallbackModels?: readonly ModelSpec[];
  /** Names of environment variables of this program to pass to commands. */
  readonly passEnvironment?: readonly string[];
  /** Sources of MCP servers. Default: none. */
  readonly servers?: RunToolOptions["servers"];
  /** Trust, instructions, skills and state of the repository. Default: none. */
  readonly project?: Omit<LoadedProject, "loaded" | "problems">;
  /** Whether the run continues a session in plan mode. Default: `false`. */
  readonly continuesPlan?: boolean | undefined;
  /** Properties of an agent that gets several prompts. Default: it gets one. */
  readonly conversation?: ConversationSetup | undefined;
  /** Asks about tool calls instead of the terminal. Default: none. */
  readonly ask?: ApprovalPrompt | undefined;
  /** Whether the session keeps the grants of the user, as that of a conversation does. Default: `false`. */
  readonly keepsGrants?: boolean;
  /** Asks for data that MCP servers request instead of the terminal. Default: none. */
  readonly questions?: ElicitationQuestions | undefined;
  /** Wraps the stream function. Default: none. */
  readonly wrapStreamFn?: (streamFn: StreamFn) => StreamFn;
  /** Whether the host limits the cost of all runs together, with a policy of its own. Default: `false`. */
  readonly sharesBudget?: boolean;
  /** Policies in addition to those of the limits. Default: none. */
  readonly policies?: readonly Policy[];
  /** Policies of sub-agents, in addition to those of the run. Default: none. */
  readonly subAgentPolicies?: readonly Policy[];
  /** Whether a key is required. Default: `true`, except for a replay. */
  readonly needsKey?: boolean;
  /** Whether a recording answers the requests. Default: whether there is a `replay`. */
  readonly isReplay?: boolean;
  /** Date for the system prompt. Default: the current one. */
  readonly today?: Date;
  /** Ends the wait for a key. */
  readonly signal?: AbortSignal;
}

/** Properties of an agent that gets several prompts. */
export interface ConversationSetup {
  /** Records the changes of files, so that those of a prompt can be undone. */
  readonly changeLog: ChangeLog;
  /** Tools that an editor provides. Default: none. */
  readonly editor?: EditorTools | undefined;
  /** Whether the user can enter a key with the command `#key`. Default: `false`. */
  readonly hasKeyCommand?: boolean;
}

/** The parts of an agent that the user changes and inspects between two prompts. */
export interface AgentControls {
  /** The mode and the grants of approvals. */
  readonly gate: LateApprovalGate;
  /** Fits the history into the context window. */
  readonly transform: CompactingTransform;
  /** Returns the options of the agent, for another agent with the same tools, rights and limits. */
  readonly createOptions: () => AgentOptions;
  /** Returns the size of the context window of a model in tokens; `undefined` when it is unknown. */
  readonly contextWindow: (model: ModelSpec) => number | undefined;
  /** Loads the sizes of the context windows; before, and before the first request, they may be unknown. */
  readonly loadModelFacts: () => Promise<void>;
  /** Returns the system prompt for a network access of commands. */
  readonly createSystemPrompt: (net: SandboxNet) => string;
  /** Forgets the key of a provider, because another one was saved. */
  readonly forgetKey: (provider: string) => void;
  /** Whether a provider has a key, as far as that is known without running a key command. */
  readonly hasKey: (provider: string) => Promise<boolean>;
  /** The sandbox, the MCP servers, the command of the user, and the end of the record of changes. */
  readonly tools: Pick<RunTools, "sandbox" | "servers" | "shell" | "untilRecorded" | "attach">;
}

/** An agent and its sandbox. Disposing of it removes the temporary files of the tools. */
export interface AgentSetup extends AsyncDisposable {
  /** The agent. */
  readonly agent: Agent;
  /** The model with which the agent starts. */
  readonly model: ModelSpec;
  /** The server that an option names for the provider of the model; `undefined` if none does. */
  readonly server: SessionServer | undefined;
  /** Plan mode, if the run or its session is in it, or the agent gets several prompts. */
  readonly planMode: PlanMode | undefined;
  /** The parts that the user changes and inspects. */
  readonly controls: AgentControls;
  /** The calls that require approval. */
  readonly approvalMode: ApprovalMode;
  /** Whether the user can be asked. */
  readonly isInteractive: boolean;
  /** Missing variables and problems of MCP servers at the start, as sentences without a full stop. */
  readonly warnings: readonly string[];
  /** Returns the later problems of MCP servers since the last call, as sentences without a full stop. */
  takeWarnings(): readonly string[];
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
  const { thinkingLevel, fallbackModels = [], permissionMode } = options;
  const chosen = await chooseModel(options, host);
  const model = thinkingLevel === undefined ? chosen : { ...chosen, thinkingLevel };
  const providers = await getProviders([model, ...fallbackModels], options, host);
  await using cleanup = new AsyncDisposableStack();
  const runTools = cleanup.use(await openTools(toToolOptions(options, host), host));
  const mode = getApprovalMode(permissionMode);
  const getMessages = () => agent.state.messages;
  const approval = createCallApproval(options, { mode, runTools, getMessages, host });
  await approval.checkRules();
  const planMode = await loadPlanMode(options, runTools);
  const keys = new ProviderKeys(providers, { selection: options, host });
  const streamFn = createStreamFn(options, providers, host);
  const getApiKey: GetApiKey | undefined = options.conversation &&
    ((provider) => keys.getForRequest(provider));
  const contextWindow = (spec: ModelSpec) => streamFn.contextWindow?.(spec);
  const summaryCalls = { streamFn: keys.watch(streamFn), contextWindow, getApiKey };
  const createTransform = () => createSummaries(options, summaryCalls);
  const transform = createTransform();
  const rejectedKeys = await openRejectedKeys(fallbackModels, host);
  const parts = {
    model,
    streamFn,
    transform,
    runTools,
    approval,
    mode,
    planMode,
    getApiKey,
    rejectedKeys,
  };
  const agentOptions = await createAgentOptions(options, parts, host);
  const agent: Agent = new Agent(agentOptions);
  runTools.attach(agent);
  keys.attach(agent);
  if (permissionMode === "plan") planMode?.restore(agent);
  const owned = cleanup.move();
  return {
    agent,
    model,
    server: findNamedServer(options, model),
    planMode,
    controls: {
      gate: approval.gate,
      transform,
      contextWindow,
      loadModelFacts: async () => void await streamFn.loadFacts?.(),
      // The transform keeps its cut, so that each agent needs its own.
      createOptions: () => ({ ...agentOptions, transformContext: createTransform() }),
      forgetKey: (provider) => keys.forget(provider),
      hasKey: (provider) => keys.has(provider),
      createSystemPrompt: (net) => createAgentPrompt({ ...options, net }, host),
      tools: runTools,
    },
    warnings: [...describeMissingVariables(options, host.env), ...runTools.takeWarnings()],
    takeWarnings: () => [
      ...runTools.takeWarnings(),
      ...rejectedKeys?.takeWarnings() ?? [],
    ],
    approvalMode: mode,
    isInteractive: (options.ask ?? findKeyboard(host.terminal)) !== undefined,
    get refused() {
      return approval.refused;
    },
    describeSandbox: () => runTools.sandbox.describe(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns the key for a request to a provider. */
type GetApiKey = (provider: string) => Promise<string | undefined>;

/** Creates a transform that replaces earlier messages by summaries; the fallback models write them, too. */
function createSummaries(
  { fallbackModels = [], replay, isReplay = replay !== undefined }: AgentSetupOptions,
  calls: Pick<AgentParts, "streamFn" | "getApiKey"> & Pick<AgentControls, "contextWindow">,
): CompactingTransform {
  const hasFallback = fallbackModels.length > 0;
  return summarize({
    ...calls,
    fallback: fallbackModels.map((model) => ({ ...model, thinkingLevel: "off" })),
    ...(hasFallback && { retry: createRetryStrategy({ isReplay, hasFallback }) }),
    prices,
    timeoutMs: SUMMARY_TIMEOUT_MS,
  });
}

interface AgentParts {
  readonly model: ModelSpec;
  readonly streamFn: StreamFn;
  readonly transform: CompactingTransform;
  readonly runTools: RunTools;
  readonly approval: CallApproval;
  readonly mode: ApprovalMode;
  readonly planMode: PlanMode | undefined;
  readonly getApiKey: GetApiKey | undefined;
  readonly rejectedKeys: RejectedKeys | undefined;
}

/** Returns what passes requests with rejected keys to fallback models, if there are some. */
async function openRejectedKeys(
  fallbackModels: readonly ModelSpec[],
  host: Host,
): Promise<RejectedKeys | undefined> {
  if (fallbackModels.length === 0) return undefined;
  const { RejectedKeys } = await importLate<typeof import("../model/rejected_keys.ts")>(
    "../model/rejected_keys.ts",
    import.meta.url,
  );
  return new RejectedKeys(host);
}

async function createAgentOptions(
  options: AgentSetupOptions,
  { model, streamFn, transform, runTools, approval, mode, planMode, getApiKey, rejectedKeys }:
    AgentParts,
  host: Host,
): Promise<AgentOptions> {
  const { maxTurns, fallbackModels = [], policies = [] } = options;
  const { isReplay = options.replay !== undefined } = options;
  const { retry, fallback } = createRetries(fallbackModels, { isReplay });
  const maxTokens = await limitReplies(options.maxCost, [model, ...fallbackModels]);
  return {
    model,
    retry,
    ...(maxTokens !== undefined && { streamOptions: { maxTokens } }),
    ...rejectedKeys?.createOptions({ streamFn, getApiKey }, fallback) ??
      { streamFn, ...(getApiKey && { getApiKey }) },
    prices,
    // A run with one prompt has a transform, too: its session keeps the summary for the next run.
    transformContext: transform,
    systemPrompt: createAgentPrompt(options, host),
    tools: runTools.tools,
    approvalMode: getAgentApprovalMode(options, { mode, runTools }),
    approve: keepsApprovals(options) ? approval.gate : approval.approve,
    // A user or a program that adds a message to a run does not want to lose what runs.
    interrupt: "boundary",
    policies: [
      ...(planMode ? [planMode] : []),
      ...await createLimits(options),
      ...runTools.policies,
      ...policies,
    ],
    ...(maxTurns !== undefined && { maxTurns }),
  };
}

/** Returns the maximum number of output tokens of a reply for a budget, if there is one. */
async function limitReplies(
  maxCost: number | undefined,
  models: readonly ModelSpec[],
): Promise<number | undefined> {
  if (maxCost === undefined) return undefined;
  const { findReplyLimit } = await importLate<typeof import("./reply_limit.ts")>(
    "./reply_limit.ts",
    import.meta.url,
  );
  return findReplyLimit(maxCost, models);
}

/** Creates the stream function of the providers of a run; the model of a conversation may change to others. */
function createStreamFn(
  options: AgentSetupOptions,
  providers: Awaited<ReturnType<typeof getProviders>>,
  host: Host,
): StreamFn {
  const { fetch, env } = host;
  const { wrapStreamFn = (inner) => inner, conversation } = options;
  const headers = { "user-agent": `swink/${VERSION}` };
  const others = conversation ? getOtherProviders(options, host) : {};
  const known = withLocalProvider({ ...others, ...providers }, host);
  return wrapStreamFn(connect({ fetch, env, headers, providers: known }));
}

interface ApprovalContext extends Pick<WaitingCallsOptions, "getMessages"> {
  readonly mode: ApprovalMode;
  readonly runTools: RunTools;
  readonly host: Host;
}

function createCallApproval(
  { permissionMode, ask, project }: AgentSetupOptions,
  { mode, runTools: { sandbox, tools, allow, deny }, getMessages, host }: ApprovalContext,
): CallApproval {
  return new CallApproval({
    mode,
    tools,
    allow: addEditingTools(allow, permissionMode),
    deny,
    sandbox,
    host,
    keyboard: findKeyboard(host.terminal),
    ask,
    getMessages,
    project,
  });
}

/** Whether the session keeps the mode and the grants of its approvals. */
function keepsApprovals({ conversation, keepsGrants = false }: AgentSetupOptions): boolean {
  return conversation !== undefined || keepsGrants;
}

/**
 * Returns the approval mode of the agent, which must pass all calls to a gate: it enforces forbidden calls in every mode,
 * and that of a session has a mode that changes. In plan mode commands need no approval, but the gate asks about those that
 * name secrets.
 */
function getAgentApprovalMode(
  options: AgentSetupOptions,
  { mode, runTools }: Pick<ApprovalContext, "mode" | "runTools">,
): ApprovalMode {
  const needsGate = keepsApprovals(options) || runTools.deny.length > 0 ||
    options.permissionMode === "plan";
  return needsGate ? "enabled" : mode;
}

function describeMissingVariables(
  { passEnvironment = [] }: Pick<AgentSetupOptions, "passEnvironment">,
  env: Host["env"],
): string[] {
  return passEnvironment.filter((name) => env(name) === undefined)
    .map((name) => `variable ${name} is not set, so commands do not get it`);
}

function toToolOptions(options: AgentSetupOptions, host: Host): RunToolOptions {
  const { tools, allowedTools, disallowedTools, project, servers, conversation, signal } = options;
  // A conversation leaves plan mode again.
  const readOnly = options.permissionMode === "plan" && !conversation;
  return {
    ...(tools && { tools }),
    allowedTools,
    disallowedTools: hasCommands({ ...options, readOnly })
      ? disallowedTools
      : [...disallowedTools, "bash"],
    skills: project?.skills ?? [],
    // Nothing shows that tools of servers only read.
    servers: servers && !readOnly
      ? { ...servers, signal, getQuestions: findQuestions(options, host) }
      : undefined,
    changeLog: conversation?.changeLog,
    editor: conversation?.editor,
    task: {
      systemPrompt: createSubAgentPrompt(options, host),
      policies: options.subAgentPolicies ?? [],
      readOnly,
    },
    sandbox: createSandboxOptions({ ...options, readOnly }),
  };
}

async function loadPlanMode(
  { permissionMode, continuesPlan = false, cwd, conversation }: AgentSetupOptions,
  { createReadingTools }: RunTools,
): Promise<PlanMode | undefined> {
  if (permissionMode !== "plan" && !continuesPlan && !conversation) return undefined;
  const { createRunPlanMode } = await importLate<typeof import("../tools/plan_mode.ts")>(
    "../tools/plan_mode.ts",
    import.meta.url,
  );
  return createRunPlanMode(cwd, conversation ? { tools: createReadingTools() } : {});
}

/** Creates the policies for the limits, if there are any: the cost of a conversation, the duration of each prompt. */
async function createLimits(
  { maxCost, timeoutMs: elapsedMs, conversation, sharesBudget = false }: AgentSetupOptions,
): Promise<Policy[]> {
  const cost = sharesBudget ? undefined : maxCost;
  if (cost === undefined && elapsedMs === undefined) return [];
  const { budget, sharedBudget } = await importLate<typeof import("../../../src/policies/mod.ts")>(
    "../../../src/policies/mod.ts",
    import.meta.url,
  );
  const preflight = cost !== undefined;
  if (!conversation) return [budget({ cost, elapsedMs, preflight })];
  return [sharedBudget({ cost, preflight }), budget({ elapsedMs })];
}

/** Returns the questions for the data of MCP servers; `undefined` if there is no user to ask. */
function findQuestions(
  { ask, questions }: Pick<AgentSetupOptions, "ask" | "questions">,
  host: Host,
): (() => Promise<ElicitationQuestions>) | undefined {
  if (questions) return () => Promise.resolve(questions);
  const keyboard = findKeyboard(host.terminal);
  // A program answers instead of the terminal.
  if (ask || !keyboard) return undefined;
  return async () => {
    const { createTerminalQuestions } = await importLate<
      typeof import("../../mcp/terminal_questions.ts")
    >("../../mcp/terminal_questions.ts", import.meta.url);
    return createTerminalQuestions(host, keyboard);
  };
}
