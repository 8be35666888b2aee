/**
 * Creates the agent of a run from model, tools, approval and system prompt.
 *
 * @module
 */

import { Agent, type ApprovalMode, type ModelSpec } from "../../mod.ts";
import { prices } from "../../adapters/catalog/catalog.ts";
// Not mod.ts, which loads every adapter: connect() loads one of them.
import { connect, keyVariables, providerNames } from "../../adapters/connect.ts";
import type { ProviderOptions } from "../../adapters/mod.ts";
import {
  approvalGate,
  codingTools,
  createSandbox,
  type SandboxReport,
} from "../../src/tools/mod.ts";
import { createTerminalAsk, NonInteractiveApprover } from "./approval.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { RunSettings } from "./settings.ts";
import type { Host } from "../host/host.ts";
import { chooseModel } from "./model_choice.ts";
import { didYouMean } from "../command_line/suggestion.ts";
import { createSystemPrompt } from "./system_prompt.ts";
import { resolveToolRules } from "./tool_rules.ts";

/** Options for `setUpAgent()`. */
export interface AgentSetupOptions extends Omit<RunSettings, "outputFormat" | "patch"> {
  /** Environment variables of commands. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Date for the system prompt. Default: the current one. */
  readonly today?: Date;
}

/** An agent and its sandbox. Disposing of it removes the temporary files of the tools. */
export interface AgentSetup extends AsyncDisposable {
  /** The agent. */
  readonly agent: Agent;
  /** The calls that require approval. */
  readonly approvalMode: ApprovalMode;
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
export function setUpAgent(options: AgentSetupOptions, host: Host): AgentSetup {
  const { env, fetch } = host;
  const { cwd, net, maxTurns, environment = {} } = options;
  const model = chooseModel(options, env);
  const sandbox = createSandbox({ cwd, net, environment, confinement: options.sandbox });
  const { tools, allow, deny } = resolveToolRules(options, codingTools({ cwd, sandbox }));
  const mode = options.approveAll ? "bypassed" : "smart";
  const nonInteractive = new NonInteractiveApprover();
  const ask = canPrompt(host) ? createTerminalAsk(host) : nonInteractive.ask;
  const agent = new Agent({
    model,
    streamFn: connect({
      fetch,
      env,
      providers: { [model.provider]: getProviderOptions(model, options) },
    }),
    prices,
    systemPrompt: options.systemPrompt ?? createDefaultPrompt(options, host),
    tools,
    // The gate enforces forbidden calls in every mode, so the agent must pass it all calls.
    approvalMode: deny.length > 0 ? "enabled" : mode,
    approve: approvalGate({ mode, ask, allow, deny, sandbox }),
    ...(maxTurns !== undefined && { maxTurns }),
  });
  return {
    agent,
    approvalMode: mode,
    get refused() {
      return nonInteractive.refused;
    },
    describeSandbox: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** Returns the options of the provider. With a base URL, any provider name is valid and the key is optional. */
function getProviderOptions(
  { provider }: ModelSpec,
  { baseUrl, replay }: AgentSetupOptions,
): ProviderOptions {
  // A replay sends no request, so any key will do.
  const key = replay === undefined ? {} : { apiKey: "replayed" };
  if (baseUrl !== undefined) return { baseUrl, keyless: true, ...key };
  const providers = providerNames();
  if (!providers.includes(provider)) {
    const advice = `Providers: ${providers.join(", ")}. Any other requires --base-url.`;
    const message = `Unknown provider "${provider}"${didYouMean(provider, providers)}`;
    throw new ConfigurationError(message, advice);
  }
  return { keyHint: `set ${keyVariables(provider).join(" or ")}`, ...key };
}

/** Whether a user at the terminal can see a question and answer it. */
function canPrompt({ terminal }: Host): boolean {
  return terminal.input.isTerminal && terminal.messages.isTerminal;
}

function createDefaultPrompt(
  { cwd, net, today }: AgentSetupOptions,
  host: Host,
): string {
  const date = today ?? new Date(host.now());
  return createSystemPrompt({
    cwd,
    net,
    platform: Deno.build.os,
    date: date.toISOString().slice(0, 10),
    attended: canPrompt(host),
  });
}
