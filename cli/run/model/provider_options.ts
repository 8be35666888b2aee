/**
 * The connections to the providers of a run: URL and key.
 *
 * @module
 */

import { keyVariables, providerNames } from "../../../adapters/connect.ts";
import type { ProviderOptions } from "../../../adapters/mod.ts";
import type { ModelSpec } from "../../../mod.ts";
import { AuthError } from "../../../src/core/errors/errors.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import type { ProviderSettings } from "../../config/provider_settings.ts";
import { ConfigurationError, UsageError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import { LOCAL_PROVIDER } from "./local_models.ts";
import { findProviderUrl } from "./provider_url.ts";

/** The settings of a run that concern its providers. */
export interface ProviderSelection {
  /** Base URL of the first provider. */
  readonly baseUrl?: string;
  /** Absolute path of the recording that answers the requests, if one does. */
  readonly replay?: string;
  /** Absolute path of the recording of the requests. Default: they are not recorded. */
  readonly record?: string;
  /** Whether a key is required. Default: `true`, except for a replay. */
  readonly needsKey?: boolean;
  /** Settings of providers, by name. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** Properties of an agent that gets several prompts. Default: it gets one. */
  readonly conversation?: {
    /** Whether the user can enter a key with the command `#key`. Default: `false`. */
    readonly hasKeyCommand?: boolean;
  } | undefined;
  /** Ends the wait for a key. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the options of the providers of some models, by name.
 *
 * @throws {UsageError} If requests are to be recorded or replayed, and the first model runs in this process.
 */
export async function getProviders(
  [first, ...others]: readonly ModelSpec[],
  options: ProviderSelection,
  host: Pick<Host, "env">,
): Promise<Record<string, ProviderOptions>> {
  if (!first) return {};
  // The base URL of the command line is that of the model, not of its fallbacks.
  const { baseUrl: _baseUrl, ...shared } = options;
  const providers: Record<string, ProviderOptions> = {};
  const hasOthers = others.length > 0;
  checkRecording(first, options);
  if (!isOnDevice(first, options)) {
    providers[first.provider] = await getProviderOptions(first, { ...options, hasOthers }, host);
  }
  for (const model of others) {
    if (isOnDevice(model, shared)) continue;
    providers[model.provider] ??= await getProviderOptions(model, { ...shared, hasOthers }, host);
  }
  return providers;
}

/**
 * Refuses to record or replay the requests of a model that runs in this process and sends none.
 *
 * @throws {UsageError} If the selection has a recording.
 */
export function checkRecording(model: ModelSpec, selection: ProviderSelection): void {
  if (!isOnDevice(model, selection)) return;
  const { record, replay } = selection;
  if (replay !== undefined) throw createOnDeviceError("--replay", model);
  if (record !== undefined) throw createOnDeviceError("--record", model);
}

/** Creates the error of an option for requests to servers, of which a model in this process sends none. */
export function createOnDeviceError(
  option: string,
  { provider, modelId }: ModelSpec,
): UsageError {
  return new UsageError(
    `${option} cannot be used with ${provider}/${modelId}, which runs on this device and sends no requests`,
    "Select another model with -m, or leave the option out.",
  );
}

/** Whether a model runs in this process, for which no options are needed: unless a server has the name of the provider. */
export function isOnDevice(
  { provider }: ModelSpec,
  { baseUrl, providers = {} }: ProviderSelection,
): boolean {
  return provider === LOCAL_PROVIDER && baseUrl === undefined &&
    providers[provider]?.baseUrl === undefined;
}

interface FallbackSelection extends ProviderSelection {
  /** Whether another model may reply in the place of this one. */
  readonly hasOthers: boolean;
}

/** Returns the options of the provider. With a base URL, any provider name is valid and the key is optional. */
async function getProviderOptions(
  { provider }: ModelSpec,
  selection: FallbackSelection,
  host: Pick<Host, "env">,
): Promise<ProviderOptions> {
  const { baseUrl, replay, providers = {} } = selection;
  const recordedUrl = replay === undefined ? undefined : await findRecordedUrl(replay, provider);
  const { url, source } = findProviderUrl(provider, { baseUrl, providers, env: host.env });
  const ownUrl = recordedUrl ?? (source === undefined ? undefined : url);
  const names = providerNames();
  if (ownUrl === undefined && !names.includes(provider)) {
    const known = [...names, LOCAL_PROVIDER].join(", ");
    const advice = `Providers: ${known}. Any other requires --base-url.`;
    const message = `Unknown provider "${provider}"${didYouMean(provider, names)}`;
    throw new ConfigurationError(message, advice);
  }
  const { apiKey, problem } = hasLazyKey(provider, selection, host)
    ? { apiKey: createLazyKey(provider, selection, host) }
    : await tryGetKey(provider, selection, host);
  // A request then fails with this reason, and the next model continues.
  if (problem !== undefined) {
    return { ...(ownUrl !== undefined && { baseUrl: ownUrl }), keyHint: problem };
  }
  const isKeyless = baseUrl !== undefined || !names.includes(provider);
  const hint = createKeyHint(provider, selection);
  const isUnavailable = apiKey === undefined && !hasKeyVariable(provider, host) &&
    (await loadKeySearch()).isKeyUnavailable(provider, host);
  return {
    ...(ownUrl !== undefined && { baseUrl: ownUrl }),
    ...(apiKey !== undefined && { apiKey }),
    keyHint: isUnavailable
      ? `the saved one is in a keyring that is not available here; ${hint}`
      : hint,
    ...(isKeyless && { keyless: true }),
  };
}

/**
 * Whether the key command of a provider runs with its first request: one of several models may never be called, and the
 * command may take long.
 */
function hasLazyKey(
  provider: string,
  { replay, needsKey = replay === undefined, providers = {}, hasOthers }: FallbackSelection,
  host: Pick<Host, "env">,
): boolean {
  return hasOthers && needsKey && providers[provider]?.keyCommand !== undefined &&
    !hasKeyVariable(provider, host);
}

/** Creates the key of a key command that runs once, with the first request. */
function createLazyKey(
  provider: string,
  selection: FallbackSelection,
  host: Pick<Host, "env">,
): () => Promise<string | undefined> {
  let key: Promise<string | undefined> | undefined;
  const find = async () => {
    const { apiKey, problem } = await tryGetKey(provider, selection, host);
    if (problem === undefined) return apiKey;
    throw new AuthError(`No API key for ${provider}: ${problem}`, { provider });
  };
  return () => key ??= find();
}

/** Returns the key of a provider, or why it cannot be found if another model may reply instead. */
async function tryGetKey(
  provider: string,
  { replay, signal, needsKey = replay === undefined, providers = {}, hasOthers }: FallbackSelection,
  host: Pick<Host, "env">,
): Promise<{ readonly apiKey?: string | undefined; readonly problem?: string }> {
  const { keyCommand } = providers[provider] ?? {};
  try {
    return { apiKey: await getKey(provider, { needsKey, keyCommand, signal }, host) };
  } catch (error) {
    if (!hasOthers || signal?.aborted || !(error instanceof ConfigurationError)) throw error;
    return { problem: error.message.slice(0, 1).toLowerCase() + error.message.slice(1) };
  }
}

/** Returns how the user can add a missing key. */
function createKeyHint(
  provider: string,
  { conversation }: Pick<ProviderSelection, "conversation">,
): string {
  const variables = keyVariables(provider).join(" or ");
  const command = conversation?.hasKeyCommand
    ? `enter #key ${provider}`
    : `run swink login ${provider}`;
  return variables === "" ? command : `set ${variables}, or ${command}`;
}

async function findRecordedUrl(file: string, provider: string): Promise<string | undefined> {
  const recorded = await importLate<typeof import("./recorded_model.ts")>(
    "./recorded_model.ts",
    import.meta.url,
  );
  return recorded.findRecordedUrl(file, provider);
}

/** Returns the options of all providers, by name; the model of a conversation can change to them. */
export function getOtherProviders(
  { providers = {}, conversation }: Pick<ProviderSelection, "providers" | "conversation">,
  host: Pick<Host, "env">,
): Record<string, ProviderOptions> {
  const known = providerNames();
  const names = new Set([...known, ...Object.keys(providers)]);
  return Object.fromEntries(Array.from(names, (provider): [string, ProviderOptions] => {
    const { url, source } = findProviderUrl(provider, { providers, env: host.env });
    const keyHint = createKeyHint(provider, { conversation });
    return [provider, {
      ...(source !== undefined && url !== undefined && { baseUrl: url }),
      ...(known.includes(provider) ? { keyHint } : { keyless: true }),
    }];
  }));
}

/** Returns the key of a provider if it is not in an environment variable, which the adapter reads. */
export async function getKey(
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
  const { findKey } = await loadKeySearch();
  return await findKey(provider, { command, signal }, host);
}

function loadKeySearch(): Promise<typeof import("../../credentials/find_key.ts")> {
  return importLate("../../credentials/find_key.ts", import.meta.url);
}

/** Whether the key of a provider is in an environment variable. */
export function hasKeyVariable(provider: string, host: Pick<Host, "env">): boolean {
  return hasVariable(keyVariables(provider), host);
}

/** Whether one of some environment variables is set. */
export function hasVariable(
  names: readonly (string | undefined)[],
  { env }: Pick<Host, "env">,
): boolean {
  return names.some((name) => name !== undefined && (env(name) ?? "") !== "");
}
