/**
 * The actions of `swink login`, `swink logout` and `swink keys`.
 *
 * @module
 */

import { keyVariables, providerNames } from "../../adapters/connect.ts";
import { didYouMean } from "../command_line/suggestion.ts";
import { loadConfig } from "../config/load_config.ts";
import { getProviderSettings, type ProviderSettings } from "../config/provider_settings.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { createNoHomeError, getProgramDirectories } from "../host/program_directories.ts";
import { findKeyboard } from "../host/terminal.ts";
import { askSecret } from "../questions/ask_secret.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { type Credentials, UNAVAILABLE_KEYRING } from "./credentials.ts";
import { openCredentials } from "./find_key.ts";
import { isKey } from "./key_command.ts";
import { readPipedKey } from "./read_piped_key.ts";

/** Saves the key of a provider. */
export async function saveKey(provider: string, host: Host): Promise<ExitCode> {
  const credentials = requireCredentials(host);
  await checkProvider(provider, host);
  using interrupt = new InterruptHandler(host);
  const key = await readKey(provider, interrupt.signal, host);
  if (key === undefined) return interrupt.exitCode ?? ExitCode.interrupted;
  checkKey(key);
  await storeKey(provider, key, { credentials, host });
  await warnAboutVariable(provider, host);
  return ExitCode.ok;
}

/**
 * Checks the form of a key.
 *
 * @throws {UsageError} If it is no single word.
 */
export function checkKey(key: string): void {
  if (isKey(key)) return;
  throw new UsageError(
    "That is no key: a key is one word without blanks or control characters",
    "Copy the key from the page of the provider, and try again.",
  );
}

/** Saves a key and reports the place that keeps it. */
export async function storeKey(
  provider: string,
  key: string,
  { credentials, host }: { readonly credentials: Credentials; readonly host: Host },
): Promise<void> {
  const { store, keyringProblem } = await credentials.save(provider, key);
  const { messages } = host.terminal;
  if (keyringProblem !== undefined) {
    await messages.write(`warning: the keyring is not used: ${toPlainText(keyringProblem)}\n`);
  }
  await messages.write(`The key for ${provider} is saved in ${toPlainText(store.name)}\n`);
}

/** An environment variable precedes a saved key, which surprises those who have just saved one. */
export async function warnAboutVariable(provider: string, { env, terminal }: Host): Promise<void> {
  const variable = keyVariables(provider).find((name) => env(name));
  if (variable === undefined) return;
  await terminal.messages.write(
    `warning: the variable ${variable} is set and precedes the saved key\n`,
  );
}

/** Reads a key: typed if there is a terminal, else all of standard input. */
async function readKey(
  provider: string,
  signal: AbortSignal,
  host: Host,
): Promise<string | undefined> {
  const { terminal } = host;
  if (!terminal.input.isTerminal) return (await readPipedKey(terminal.input, signal))?.trim();
  const keyboard = findKeyboard(terminal);
  if (!keyboard) {
    throw new UsageError("The key cannot be typed here", `Pipe it: … | swink login ${provider}`);
  }
  using input = new TypedInput(keyboard);
  const key = await askSecret(`Key for ${provider} (not shown)`, { host, keyboard, input, signal });
  return key?.trim();
}

/**
 * Checks the name of a provider.
 *
 * @throws {UsageError} If there is no such provider, neither built in nor in the configuration.
 */
export async function checkProvider(provider: string, host: Host): Promise<void> {
  const names = [...providerNames(), ...Object.keys(await loadProviderSettings(host))];
  if (names.includes(provider)) return;
  const message = `Unknown provider ${JSON.stringify(provider)}${didYouMean(provider, names)}`;
  throw new UsageError(message, `Providers: ${names.join(", ")}`);
}

async function loadProviderSettings(
  { env }: Host,
): Promise<Readonly<Record<string, ProviderSettings>>> {
  const { settings } = await loadConfig({ directories: getProgramDirectories(env) }, env);
  return getProviderSettings(settings);
}

/** Deletes the saved key of a provider. */
export async function deleteKey(provider: string, host: Host): Promise<ExitCode> {
  const wasSaved = await requireCredentials(host).delete(provider);
  const message = wasSaved
    ? `The key for ${provider} is deleted`
    : `No key for ${provider} is saved`;
  await host.terminal.messages.write(`${toPlainText(message)}\n`);
  return ExitCode.ok;
}

/** Lists the providers that have a key, in the order in which their places are searched. */
export async function listKeys(host: Host): Promise<ExitCode> {
  const { env, terminal } = host;
  const variables = providerNames().flatMap((provider) => {
    const variable = keyVariables(provider).find((name) => env(name));
    return variable === undefined ? [] : [[provider, variable]];
  });
  const commands = Object.entries(await loadProviderSettings(host)).flatMap(
    ([provider, { keyCommand }]) => keyCommand === undefined ? [] : [[provider, "key command"]],
  );
  const credentials = openCredentials(host);
  const rows = [
    ...variables,
    ...commands,
    ...(credentials?.list() ?? []).map(({ provider, store }) => [provider, store.name]),
    ...(credentials?.listUnavailable() ?? []).map((provider) => [provider, UNAVAILABLE_KEYRING]),
  ];
  await terminal.output.write(formatTable(rows, getTableOptions(host)));
  if (rows.length === 0) {
    await terminal.messages.write("No key: save one with swink login PROVIDER\n");
  }
  return ExitCode.ok;
}

/**
 * Returns the saved keys.
 *
 * @throws {ConfigurationError} For a user without a home directory.
 */
export function requireCredentials(host: Host): Credentials {
  const credentials = openCredentials(host);
  if (credentials) return credentials;
  throw createNoHomeError("keys");
}
