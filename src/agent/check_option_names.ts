/**
 * Checks the names of options, for programs without types.
 *
 * @module
 */

import { checkMisspellings, checkNames } from "../core/check_names.ts";
import type { Policy } from "../core/policy.ts";
import type { StreamOptions } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import type { AgentOptions } from "./options.ts";
import type { ContinueOptions, RunOptions } from "./run_options.ts";
import type { StructuredOutputOptions } from "./structured_output.ts";

/** All names of a type; a missing one does not compile. */
type Names<Options> = Readonly<Record<keyof Options, true>>;

const AGENT_OPTIONS: Names<AgentOptions> = {
  model: true,
  streamFn: true,
  systemPrompt: true,
  tools: true,
  messages: true,
  pendingApprovals: true,
  decidedCalls: true,
  steeringMode: true,
  followUpMode: true,
  streamOptions: true,
  toolChoice: true,
  convertToLlm: true,
  transformContext: true,
  getApiKey: true,
  retry: true,
  fallback: true,
  policies: true,
  approve: true,
  approvalMode: true,
  interrupt: true,
  maxTurns: true,
  toolTimeoutMs: true,
  validator: true,
  prices: true,
  context: true,
  now: true,
  sleep: true,
  newId: true,
  random: true,
  readFile: true,
};

/** The options of every method that starts a run. */
const RUN_OPTIONS: Names<ContinueOptions & StructuredOutputOptions> = {
  signal: true,
  maxTurns: true,
  toolChoice: true,
  streamOptions: true,
  tools: true,
  policies: true,
  context: true,
  approvals: true,
  maxRetries: true,
  full: true,
};

const STREAM_OPTIONS: Names<StreamOptions> = {
  temperature: true,
  maxTokens: true,
  topP: true,
  stop: true,
  seed: true,
  serverTools: true,
  sessionId: true,
  transport: true,
  apiKey: true,
  cache: true,
  toolChoice: true,
  responseSchema: true,
  serviceTier: true,
  verbosity: true,
  reasoningSummary: true,
  extra: true,
};

/** Optional properties of a tool that change the effect of a call. */
const TOOL_PROPERTIES: readonly (keyof AgentTool)[] = [
  "readOnly",
  "requiresApproval",
  "risk",
  "interruptible",
  "sequential",
  "concurrencyKey",
  "timeoutMs",
  "sideEffect",
  "preview",
  "omitHunks",
  "validate",
];

const HOOKS: Names<Omit<Policy, "name">> = {
  preTurn: true,
  preRequest: true,
  preDispatch: true,
  postDispatch: true,
  postTurn: true,
  postLoop: true,
  onDelta: true,
};

/**
 * Checks the options of an agent and of a run; one that is `undefined` counts as missing. Tools and policies may have any
 * additional properties, but none with almost the name of one that is missing.
 *
 * @throws {BadRequestError} If a name is unknown; the message suggests a similar one.
 */
export function checkOptionNames(
  agent: AgentOptions,
  run: RunOptions,
  agentTools: readonly AgentTool[],
): void {
  checkNames(agent, Object.keys(AGENT_OPTIONS), "the agent");
  checkNames(run, Object.keys(RUN_OPTIONS), "the run");
  for (const { streamOptions, policies = [] } of [agent, run]) {
    checkNames(streamOptions, Object.keys(STREAM_OPTIONS), "streamOptions");
    for (const policy of policies) {
      checkMisspellings(policy, Object.keys(HOOKS), `the policy "${policy.name}"`);
    }
  }
  for (const tool of [...agentTools, ...(run.tools ?? [])]) {
    checkMisspellings(tool, TOOL_PROPERTIES, `the tool "${tool.name}"`);
  }
}
