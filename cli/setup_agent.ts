/**
 * Where the rooms meet: model, tools, approval and prompt become an agent.
 *
 * @module
 */

import { Agent, type ApprovalMode, type ModelSpec } from "../mod.ts";
import { prices } from "../adapters/catalog/catalog.ts";
// Not mod.ts, which loads every adapter: connect() loads the one that is asked.
import { connect, keyVariables, providerNames } from "../adapters/connect.ts";
import type { ProviderOptions } from "../adapters/mod.ts";
import { approvalGate, codingTools, createSandbox } from "../src/tools/mod.ts";
import { createTerminalAsk, NonInteractiveApprover } from "./approval.ts";
import { ConfigurationError } from "./cli_error.ts";
import type { RunSettings } from "./commands/run_settings.ts";
import type { Host } from "./host.ts";
import { LineReader } from "./line_reader.ts";
import { chooseModel } from "./model_choice.ts";
import { findSuggestion } from "./suggestion.ts";
import { systemPrompt } from "./system_prompt.ts";
import { resolveToolRules } from "./tool_rules.ts";

/** What an agent is set up with. */
export interface AgentSetupOptions extends Omit<RunSettings, "outputFormat" | "patch"> {
  /** Variables that commands get. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The day that the model is told. Default: this day. */
  readonly today?: Date;
}

/** An agent that is ready to be prompted. Dispose of it to remove what its tools left in temporary folders. */
export interface AgentSetup extends AsyncDisposable {
  /** The agent. */
  readonly agent: Agent;
  /** Which calls are asked about. */
  readonly approvalMode: ApprovalMode;
  /** Names of the tools that were refused because nobody could be asked. */
  readonly refused: readonly string[];
}

/**
 * Makes an agent for a folder.
 *
 * @throws {UsageError} When a tool is named that does not exist.
 * @throws {ConfigurationError} When there is no model.
 */
export function setUpAgent(wish: AgentSetupOptions, host: Host): AgentSetup {
  const { env, fetch } = host;
  const { cwd, maxTurns, environment = {} } = wish;
  const model = chooseModel(wish, env);
  const sandbox = createSandbox({ cwd, net: wish.net, environment });
  const { tools, allow, deny } = resolveToolRules(wish, codingTools({ cwd, sandbox }));
  const mode = wish.approveAll ? "bypassed" : "smart";
  const absent = new NonInteractiveApprover();
  const ask = canPrompt(host)
    ? createTerminalAsk(host, new LineReader(host.terminal.input))
    : absent.ask;
  const agent = new Agent({
    model,
    streamFn: connect({
      fetch,
      env,
      providers: { [model.provider]: getProviderOptions(model, wish) },
    }),
    prices,
    systemPrompt: wish.systemPrompt ?? createDefaultPrompt(wish, host),
    tools,
    // What is forbidden, the gate must see whatever the mode is.
    approvalMode: deny.length > 0 ? "enabled" : mode,
    approve: approvalGate({ mode, ask, allow, deny, sandbox }),
    ...(maxTurns !== undefined && { maxTurns }),
  });
  return {
    agent,
    approvalMode: mode,
    get refused() {
      return absent.refused;
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** How the provider is reached: a server of one's own may go without a key, but has an address. */
function getProviderOptions(
  { provider }: ModelSpec,
  { baseUrl, replay }: AgentSetupOptions,
): ProviderOptions {
  // A recording asks for no key.
  const key = replay === undefined ? {} : { apiKey: "replayed" };
  if (baseUrl !== undefined) return { baseUrl, keyless: true, ...key };
  const known = providerNames();
  if (!known.includes(provider)) {
    const suggestion = findSuggestion(provider, known);
    const meant = suggestion ? `. Did you mean ${suggestion}?` : "";
    const advice = `Known are ${known.join(", ")}; any other needs --base-url.`;
    throw new ConfigurationError(`There is no provider "${provider}"${meant}`, advice);
  }
  return { keyHint: `set ${keyVariables(provider).join(" or ")}`, ...key };
}

/** Somebody can be asked who sees the question and can type an answer. */
function canPrompt({ terminal }: Host): boolean {
  return terminal.input.isTerminal && terminal.messages.isTerminal;
}

function createDefaultPrompt(
  { cwd, net, today = new Date() }: AgentSetupOptions,
  host: Host,
): string {
  return systemPrompt({
    cwd,
    net,
    platform: Deno.build.os,
    date: today.toISOString().slice(0, 10),
    attended: canPrompt(host),
  });
}
