/**
 * Checks the names of options, for programs without types.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
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
  "interruptible",
  "sequential",
  "concurrencyKey",
  "timeoutMs",
  "sideEffect",
  "preview",
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

/** Options of other libraries, and the ones that have their effect here. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  instructions: "systemPrompt",
  system: "systemPrompt",
  maxSteps: "maxTurns",
  maxIterations: "maxTurns",
  abortSignal: "signal",
  maxOutputTokens: "maxTokens",
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
  checkNames(agent, AGENT_OPTIONS, "the agent");
  checkNames(run, RUN_OPTIONS, "the run");
  for (const { streamOptions, policies = [] } of [agent, run]) {
    checkNames(streamOptions, STREAM_OPTIONS, "streamOptions");
    for (const policy of policies) {
      checkMisspellings(policy, Object.keys(HOOKS), `the policy "${policy.name}"`);
    }
  }
  for (const tool of [...agentTools, ...(run.tools ?? [])]) {
    checkMisspellings(tool, TOOL_PROPERTIES, `the tool "${tool.name}"`);
  }
}

function checkNames(
  options: object = {},
  known: Readonly<Record<string, true>>,
  subject: string,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const similar = suggestName(name, Object.keys(known));
    const suggestion = similar === undefined ? "" : `: did you mean ${similar}?`;
    throw new BadRequestError(`Unknown option "${name}" of ${subject}${suggestion}`);
  }
}

function suggestName(name: string, known: readonly string[]): string | undefined {
  const foreign = Object.hasOwn(FOREIGN_NAMES, name) ? FOREIGN_NAMES[name] : undefined;
  if (foreign !== undefined && known.includes(foreign)) return foreign;
  return findSimilarName(name, known) ?? known.find((other) => other.startsWith(name));
}

function checkMisspellings(object: object, optional: readonly string[], subject: string): void {
  const missing = optional.filter((name) => !(name in object));
  for (const name of Object.keys(object)) {
    const similar = optional.includes(name) ? undefined : findSimilarName(name, missing);
    if (similar === undefined) continue;
    throw new BadRequestError(
      `Unknown property "${name}" of ${subject}: did you mean ${similar}?`,
    );
  }
}

/** Finds a name that differs in at most two adjacent letters; case, `_` and `-` do not count. */
function findSimilarName(name: string, candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => isSimilar(normalizeName(name), normalizeName(candidate)));
}

function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Compares the equal letters at both ends; short words may differ in one letter only. */
function isSimilar(word: string, other: string): boolean {
  const length = Math.max(word.length, other.length);
  const shorter = Math.min(word.length, other.length);
  let equal = 0;
  while (equal < shorter && word[equal] === other[equal]) equal++;
  for (let end = 1; equal < shorter && word.at(-end) === other.at(-end); end++) equal++;
  return length - equal <= (length < 6 ? 1 : 2);
}
