/**
 * The questions of the first run: which model to use, and its key.
 *
 * @module
 */

import { changeConfigFile } from "../config/config_file.ts";
import { getUserConfigPath } from "../config/config_files.ts";
import { editConfig } from "../config/edit_config.ts";
import type { ProviderSettings } from "../config/provider_settings.ts";
import { openCredentials } from "../credentials/find_key.ts";
import { storeKey } from "../credentials/key_actions.ts";
import { isKey } from "../credentials/key_command.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { createNoHomeError, requireProgramDirectories } from "../host/program_directories.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { askSecret } from "../questions/ask_secret.ts";
import { type QuestionContext, toLines } from "../questions/choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { toPlainText } from "../render/plain_text.ts";
import { wrapText } from "../render/wrap_text.ts";
import { type CheckedProvider, checkKey } from "./check_key.ts";
import {
  findLocalModels,
  LOCAL_SERVERS,
  type LocalModel,
  type LocalServer,
} from "./local_models.ts";

/** How the questions ended. */
export type WizardEnd =
  /** A key or a model is saved. */
  | "saved"
  /** The user wants to see the demo. */
  | "demo"
  /** The user wants none of the offers. */
  | "quit"
  /** The input ended, or the signal was aborted. */
  | "closed";

/** Options for `askForModel()`. */
export interface WizardOptions {
  /** Settings of providers, by name. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Closes the questions. */
  readonly signal: AbortSignal;
}

/** The terminal of the questions, and what saves their answers. */
interface WizardContext extends QuestionContext {
  readonly host: Host;
  readonly providers: WizardOptions["providers"];
}

const PLACES = ["anthropic", "openai", "local", "demo", "quit"] as const;

const INTRODUCTION = [
  "? No model is configured yet.",
  "  anthropic  Claude, with a key from console.anthropic.com",
  "  openai     GPT, with a key from platform.openai.com",
  "  local      a model on this device, also in Ollama or vLLM",
  "  demo       a run with a scripted model, without a key",
  "  quit       shows the other ways",
];

/**
 * Asks where the model runs, and for its key or its name, until that is saved or the user has had enough.
 *
 * @throws {ConfigurationError} If the answer cannot be saved.
 */
export async function askForModel(
  { providers, signal }: WizardOptions,
  host: Host,
): Promise<WizardEnd> {
  const { keyboard } = host.terminal;
  if (!keyboard) return "closed";
  using input = new TypedInput(keyboard);
  const context: WizardContext = { host, keyboard, input, signal, providers };
  for (;;) {
    const place = await askChoice({
      details: toLines(INTRODUCTION),
      message: "Model? [a]nthropic / [o]penai / [l]ocal / [d]emo / [q]uit",
      answers: PLACES,
    }, context);
    switch (place) {
      case undefined:
        return "closed";
      case "demo":
      case "quit":
        return place;
      case "local":
        if (await setUpLocalModel(context)) return "saved";
        break;
      default:
        if (await setUpKey(place, context)) return "saved";
    }
    if (signal.aborted) return "closed";
  }
}

/** Asks for a key until the provider accepts one or nothing is typed; returns whether one was saved. */
async function setUpKey(provider: CheckedProvider, context: WizardContext): Promise<boolean> {
  const { host, signal, providers } = context;
  const { messages } = host.terminal;
  const credentials = openCredentials(host);
  if (!credentials) throw createNoHomeError("keys");
  for (;;) {
    const typed = await askSecret(
      `  Key for ${provider} (not shown; Enter alone goes back)`,
      context,
    );
    const key = typed?.trim() ?? "";
    if (key === "" || signal.aborted) return false;
    if (!isKey(key)) {
      await writeNotice("That is no key: a key is one word. Copy it again.", host);
      continue;
    }
    await writeNotice("Checking the key…", host);
    const baseUrl = providers[provider]?.baseUrl;
    const check = await checkKey(provider, { key, baseUrl, signal }, host);
    if (signal.aborted) return false;
    if (check.type === "rejected") {
      await writeNotice(
        `${provider} rejects this key (HTTP ${check.status}). Copy it again.`,
        host,
      );
      continue;
    }
    if (check.type === "unknown") {
      await messages.write(`warning: the key was not checked: ${check.reason}\n`);
    }
    await storeKey(provider, key, { credentials, host });
    return true;
  }
}

/** Asks for a model on this machine, or one to download; returns whether one was saved. */
async function setUpLocalModel(context: WizardContext): Promise<boolean> {
  const { host, signal, providers } = context;
  const { messages } = host.terminal;
  await writeNotice("Looking for servers on this machine…", host);
  const { models: served, locked } = await findLocalModels(host, { providers, signal });
  if (signal.aborted) return false;
  const notices = served.length === 0 && locked.length === 0
    ? NO_SERVER
    : locked.flatMap(describeLocked);
  for (const notice of notices) await writeNotice(notice, host);
  const { findDeviceModels, downloadModel } = await importLate<
    typeof import("./device_models.ts")
  >("./device_models.ts", import.meta.url);
  const device = await findDeviceModels(host);
  if (device.problem !== undefined) await writeNotice(device.problem, host);
  const found = [...served, ...device.models];
  const model = found.length > 0 ? await askForLocalModel(found, context) : undefined;
  if (!model) return false;
  if (model.download && !await downloadModel(model.download, { host, signal })) return false;
  const file = getUserConfigPath(requireProgramDirectories("the configuration", host.env));
  await changeConfigFile(file, (content) => editConfig(content, "model", model.name));
  await messages.write(`The model ${model.name} is saved in ${toPlainText(file)}\n`);
  return true;
}

const PORTS = LOCAL_SERVERS.map(({ name, url }) => `${name}: ${new URL(url).port}`);

const NO_SERVER = [
  `No server with a model answers (${PORTS.join(", ")}).`,
  "Start one, such as Ollama from ollama.com with: ollama pull qwen3",
];

function describeLocked({ name, provider }: LocalServer): readonly string[] {
  return [
    `${name} answers only with a key. Save it with: swink login ${provider}`,
    `and its model with: swink config set model ${provider}/NAME`,
  ];
}

/** Writes indented rows, which break between words only. */
async function writeNotice(text: string, { terminal }: Host): Promise<void> {
  const indent = "  ";
  for (const row of wrapText(text, terminal.columns - indent.length)) {
    await terminal.messages.write(`${indent}${row}\n`);
  }
}

/** A model has one digit as its key. */
const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;

async function askForLocalModel(
  models: readonly LocalModel[],
  context: WizardContext,
): Promise<LocalModel | undefined> {
  const answers = DIGITS.slice(0, models.length);
  const offered = models.slice(0, answers.length);
  const rows = offered.map(({ name, server }, index) => `  ${index + 1}  ${name} (${server})`);
  const others = models.length - offered.length;
  if (others > 0) rows.push(`     ${others} more: swink config set model PROVIDER/NAME`);
  const answer = await askChoice({
    details: toLines(["? Models on this machine:", ...rows]),
    message: `Model? [1]${answers.length > 1 ? `–[${answers.length}]` : ""} / [b]ack`,
    answers: [...answers, "back"] as const,
  }, context);
  return offered[Number(answer) - 1];
}
