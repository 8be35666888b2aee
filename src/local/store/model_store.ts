/**
 * The models on this device.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { BadRequestError, getErrorMessage, ModelNotFoundError } from "../../core/errors/errors.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { basename, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { readGgufHeader } from "../gguf/gguf_header.ts";
import { createModelProfile, type ModelProfile } from "../gguf/model_profile.ts";
import { createDirectory, downloadFile, isFile } from "./download_file.ts";
import type { DownloadOptions, DownloadProgress } from "./download_options.ts";
import { createDigest, digestFile } from "./file_digest.ts";
import { DEFAULT_ENDPOINT, type HubFile, isHubName, parseHubName } from "./hub_file.ts";
import { getModelDirectory, type ReadVariable, readVariable } from "./model_directory.ts";
import { isPartInUse, lockPart } from "./part_file.ts";
import { findPreset, type LocalPreset, PRESETS } from "./presets.ts";
import { shareDownload } from "./shared_downloads.ts";

/** Options for `new ModelStore()`. */
export interface ModelStoreOptions {
  /** Directory of the models. Default: `SWINK_MODELS`, else `swink/models` in the user's directory for data. */
  readonly directory?: string | undefined;
  /** Sends requests to the hub. Default: the global `fetch`, which uses the proxies of the environment. */
  readonly fetch?: typeof fetch | undefined;
  /** Reads environment variables, such as `HF_ENDPOINT` and `HF_TOKEN`. Default: those of the process. */
  readonly env?: ReadVariable | undefined;
  /** Longest wait for a response of the hub, in milliseconds. Default: 30,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Longest pause of a download, in milliseconds. Default: 60,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Waits before a download is continued whose connection was lost. Default: a timer. */
  readonly sleep?: Sleep | undefined;
}

/** Names of the options of a store. */
export const STORE_OPTION_NAMES: Record<keyof ModelStoreOptions, true> = {
  directory: true,
  fetch: true,
  env: true,
  connectTimeoutMs: true,
  idleTimeoutMs: true,
  sleep: true,
};

/** A model on this device. */
export interface StoredModel {
  /** Name of the model in `local/NAME`. */
  readonly name: string;
  /** Path of its file. */
  readonly path: string;
  /** Size of its file in bytes. */
  readonly size: number;
  /** The preset that it belongs to, if any. */
  readonly preset?: LocalPreset;
}

/** The place of a model: a file, which may have to be downloaded before. */
export interface ModelPlace {
  /** Name of the model for people. */
  readonly name: string;
  /** Path of the file. */
  readonly path: string;
  /** The file of the hub, if it can be downloaded. */
  readonly source?: HubFile;
  /** The preset, if it is one. */
  readonly preset?: LocalPreset;
}

/** Options for `ModelStore.download()`. */
export interface PullOptions {
  /** Ends the download; what has arrived is kept. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each part. Default: none. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

const EXTENSION = ".gguf";
/** Added to the names of files that are not complete. */
const PART_EXTENSION = ".part";
const IMPORT_EXTENSION = ".import";
const MODEL_NAME = /^[A-Za-z0-9][\w.-]{0,199}$/;

/** Finds, downloads, imports and removes models. */
export class ModelStore {
  readonly #options: ModelStoreOptions;

  /** Throws a `BadRequestError` if an option is unknown. */
  constructor(options: ModelStoreOptions = {}) {
    checkNames(options, Object.keys(STORE_OPTION_NAMES), "new ModelStore()");
    this.#options = options;
  }

  /** Directory of the models; it need not exist. */
  get directory(): string {
    return this.#options.directory ?? getModelDirectory(this.#env);
  }

  /**
   * Returns the place of a model: a preset, a path of a GGUF file, a model that was imported, or `hf:OWNER/REPOSITORY/FILE`.
   *
   * @throws {ModelNotFoundError} If no model has this name.
   */
  async find(name: string): Promise<ModelPlace> {
    const preset = findPreset(name);
    if (preset) return { name, preset, source: preset, path: this.#toPath(name) };
    if (isHubName(name)) {
      const source = parseHubName(name);
      return { name, source, path: this.#toPath(toStoredName(source)) };
    }
    const file = await this.#findFile(name);
    if (file !== undefined) return { name: basename(file), path: file };
    const stored = await this.list();
    const known = stored.find((model) => model.name === name);
    if (known) return { name, path: known.path };
    const names = [...new Set([...PRESETS, ...stored].map((model) => model.name))];
    throw new ModelNotFoundError(
      `There is no model "${name}" on this device. Use the path of a GGUF file, ` +
        `hf:OWNER/REPOSITORY/FILE.gguf, or one of: ${names.join(", ")}`,
      { provider: "local", model: name },
    );
  }

  /** Returns the path that a name is: of a GGUF file, which may be missing, or of another file that exists. */
  async #findFile(name: string): Promise<string | undefined> {
    const home = this.#env("HOME");
    const path = home && name.startsWith("~/") ? join(home, name.slice(2)) : name;
    if (name.toLowerCase().endsWith(EXTENSION)) return path;
    return /[/\\]/.test(name) && await isFile(path) ? path : undefined;
  }

  /**
   * Lists the models of the directory.
   *
   * @throws {BadRequestError} If the directory exists and cannot be read.
   */
  async list(): Promise<StoredModel[]> {
    return await this.#listFiles([EXTENSION]);
  }

  /**
   * Lists the incomplete files of downloads and imports that are in progress or were interrupted. They are no models: `path`
   * and `size` are those of the incomplete file.
   *
   * @throws {BadRequestError} If the directory exists and cannot be read.
   */
  async listIncomplete(): Promise<StoredModel[]> {
    return await this.#listFiles([EXTENSION + PART_EXTENSION, EXTENSION + IMPORT_EXTENSION]);
  }

  /** Lists the files with one of these ends of their names. */
  async #listFiles(extensions: readonly string[]): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for (const entry of this.#readDirectory()) {
      const extension = extensions.find((end) => entry.endsWith(end));
      if (extension === undefined) continue;
      const path = join(this.directory, entry);
      const size = await getFileSize(path);
      if (size === undefined) continue;
      const name = entry.slice(0, -extension.length);
      const preset = findPreset(name);
      models.push({ name, path, size, ...(preset && { preset }) });
    }
    return models.toSorted((first, second) => first.name < second.name ? -1 : 1);
  }

  /**
   * Downloads a model if it is not present; continues a download that was interrupted.
   *
   * @throws {AgentError} If it cannot be downloaded or verified.
   */
  async download(
    { path, source, name }: ModelPlace,
    { signal = new AbortController().signal, onProgress }: PullOptions = {},
  ): Promise<void> {
    while (!await isFile(path)) {
      if (!source) {
        const facts = { provider: "local", model: name };
        throw new ModelNotFoundError(`There is no file ${path}`, facts);
      }
      const options = { ...this.#createDownloadOptions(), signal };
      const caller = { signal, onProgress };
      const isDone = await shareDownload(
        path,
        caller,
        (report) => downloadFile(source, path, { ...options, onProgress: report }),
      );
      if (isDone) return;
    }
  }

  /**
   * Copies a GGUF file into the directory. A file with the content of a preset gets its name.
   *
   * @throws {BadRequestError} If it is no GGUF file, or a model with its name exists.
   */
  async importFile(file: string): Promise<StoredModel & { readonly profile: ModelProfile }> {
    const profile = createModelProfile(await readGgufHeader(file));
    const preset = await findPresetOfFile(file, profile.fileSize);
    const name = preset?.name ?? basename(file).replace(/\.gguf$/i, "");
    if (!MODEL_NAME.test(name)) {
      throw new BadRequestError(
        `Cannot import ${file}: rename it to a name of letters, digits, dots, dashes and underscores`,
      );
    }
    // Some systems do not distinguish small and capital letters.
    const other = findPreset(name.toLowerCase());
    if (!preset && other) {
      throw new BadRequestError(
        `Cannot import ${file}: it is not the file of the preset ${other.name}; rename it`,
      );
    }
    const path = this.#toPath(name);
    await this.#copy(file, { name, path });
    return { name, path, size: profile.fileSize, profile, ...(preset && { preset }) };
  }

  /**
   * Removes a model, or the part of a download.
   *
   * @throws {ModelNotFoundError} If there is none with this name.
   * @throws {BadRequestError} If it cannot be removed, or is being downloaded.
   */
  async remove(name: string): Promise<void> {
    const stored = isHubName(name) ? toStoredName(parseHubName(name)) : name;
    // A name of the hub has been checked, and may be longer.
    if (isHubName(name) || MODEL_NAME.test(stored) || await this.#isListed(stored)) {
      const path = this.#toPath(stored);
      if (await isPartInUse(`${path}${PART_EXTENSION}`)) {
        throw new BadRequestError(`The model ${name} is being downloaded; end that first`);
      }
      if (await isPartInUse(`${path}${IMPORT_EXTENSION}`)) {
        throw new BadRequestError(`The model ${name} is being imported; end that first`);
      }
      const files = [path, `${path}${PART_EXTENSION}`, `${path}${IMPORT_EXTENSION}`];
      let isRemoved = false;
      // In order, so that nothing is removed after a failure was reported.
      for (const file of files) if (await remove(file)) isRemoved = true;
      if (isRemoved) return;
    }
    throw new ModelNotFoundError(`There is no model "${name}" in ${this.directory}`);
  }

  /** Whether the directory has a file for this name, which a user may have copied into it. */
  async #isListed(name: string): Promise<boolean> {
    const files = [...await this.list(), ...await this.listIncomplete()];
    return files.some((file) => file.name === name);
  }

  get #env(): ReadVariable {
    return this.#options.env ?? readVariable;
  }

  #toPath(name: string): string {
    return join(this.directory, `${name}${EXTENSION}`);
  }

  #createDownloadOptions(): Omit<DownloadOptions, "signal"> {
    const { fetch = globalThis.fetch, connectTimeoutMs = 30_000, idleTimeoutMs = 60_000 } =
      this.#options;
    const { sleep = realSleep } = this.#options;
    return {
      endpoint: this.#env("HF_ENDPOINT") || DEFAULT_ENDPOINT,
      token: this.#env("HF_TOKEN") || undefined,
      fetch,
      connectTimeoutMs,
      idleTimeoutMs,
      sleep,
    };
  }

  #readDirectory(): string[] {
    try {
      return [...system.readDirSync(this.directory)].map(({ name }) => name);
    } catch (cause) {
      if (getSystemErrorCode(cause) === "ENOENT") return [];
      const message = `Cannot read ${this.directory}: ${getErrorMessage(cause)}`;
      throw new BadRequestError(message, { cause });
    }
  }

  /** Copies under another name first, so that an interrupted copy is no model. */
  async #copy(file: string, { name, path }: Pick<StoredModel, "name" | "path">): Promise<void> {
    const part = `${path}${IMPORT_EXTENSION}`;
    await createDirectory(this.directory);
    using lock = lockPart(part);
    if (!lock) throw new BadRequestError(`Another process is importing ${name}; wait for it`);
    if (await isFile(path)) {
      throw new BadRequestError(`There is already a model ${name}; remove it first`);
    }
    try {
      await system.copyFile(file, part);
      await system.rename(part, path);
    } catch (cause) {
      await remove(part).catch(() => {});
      const problem = `Cannot copy ${file} to ${this.directory}`;
      throw new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
    }
  }
}

/**
 * Names of files on the hub are unique only within their repository. The plus sign and the at sign, which names on the hub
 * do not have, distinguish two dashes within a name and a revision from a directory.
 */
function toStoredName({ repository, file, revision }: HubFile): string {
  const parts = `${repository}/${file.replace(/\.gguf$/i, "")}`.split("/");
  const name = parts.map((part) => part.replace(/-(?=-)/g, "-+")).join("--");
  return revision === undefined ? name : `${name}@${revision}`;
}

/** Finds the preset whose file has this content; only files of the right size are read. */
async function findPresetOfFile(file: string, size: number): Promise<LocalPreset | undefined> {
  const candidates = PRESETS.filter((preset) => preset.size === size);
  if (candidates.length === 0) return undefined;
  const digest = createDigest();
  await digestFile(file, digest);
  const sha256 = digest.finish();
  return candidates.find((preset) => preset.sha256 === sha256);
}

/** Returns the size of a file, or of that of a link; `undefined` if it is none. */
async function getFileSize(path: string): Promise<number | undefined> {
  try {
    const { isFile, size } = await system.stat(path);
    return isFile ? size : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a file; returns whether it existed. */
async function remove(path: string): Promise<boolean> {
  try {
    await system.remove(path);
    return true;
  } catch (cause) {
    if (getSystemErrorCode(cause) === "ENOENT") return false;
    throw new BadRequestError(`Cannot remove ${path}: ${getErrorMessage(cause)}`, { cause });
  }
}
