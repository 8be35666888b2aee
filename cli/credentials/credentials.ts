/**
 * The keys that the user has saved with `swink login`.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import type { CredentialStore } from "./credential_store.ts";
import {
  createFileStore,
  createPrivateDirectory,
  getCredentialDirectory,
  removeIfExists,
} from "./file_store.ts";

/** A saved key, without the key itself. */
export interface SavedKey {
  /** Name of the provider. */
  readonly provider: string;
  /** The place that keeps it. */
  readonly store: CredentialStore;
}

/** Result of `Credentials.save()`. */
export interface SaveResult {
  /** The place that keeps the key. */
  readonly store: CredentialStore;
  /** Reason why the keyring does not keep it, as a sentence without a full stop. */
  readonly keyringProblem?: string;
}

/** Name of a keyring that is not available, such as that of a desktop in a session without it. */
export const UNAVAILABLE_KEYRING = "a keyring that is not available here";

/**
 * The saved keys: in the keyring of the system if there is one, else in files that only the user can read. An empty file
 * `PROVIDER.keyring` marks a key in the keyring, so that a program without saved keys never starts a keyring.
 */
export class Credentials {
  readonly #directory: string;
  readonly #files: CredentialStore;
  readonly #keyring: CredentialStore | undefined;

  constructor(directories: ProgramDirectories, keyring: CredentialStore | undefined) {
    this.#directory = getCredentialDirectory(directories);
    this.#files = createFileStore(directories);
    this.#keyring = keyring;
  }

  /** Returns the saved keys, sorted by provider. */
  list(): SavedKey[] {
    const saved = listNames(this.#directory).flatMap((name): SavedKey[] => {
      const [, provider, type] = /^([\w-]+)\.(key|keyring)$/.exec(name) ?? [];
      const store = type === "key" ? this.#files : this.#keyring;
      return provider !== undefined && store ? [{ provider, store }] : [];
    });
    return saved.sort((a, b) => (a.provider < b.provider ? -1 : 1));
  }

  /** Returns the providers whose key is in a keyring that is not available here, such as that of a desktop, sorted. */
  listUnavailable(): string[] {
    if (this.#keyring) return [];
    return listNames(this.#directory).flatMap((name) => /^([\w-]+)\.keyring$/.exec(name)?.[1] ?? [])
      .sort();
  }

  /** Whether the key of a provider is in a keyring that is not available here. */
  isUnavailable(provider: string): boolean {
    return this.listUnavailable().includes(provider);
  }

  /**
   * Returns the saved key of a provider; `undefined` if there is none.
   *
   * @throws {ConfigurationError} If the key cannot be read.
   */
  async read(provider: string): Promise<string | undefined> {
    const saved = this.list().find((key) => key.provider === provider);
    if (!saved) return undefined;
    try {
      return await saved.store.read(provider);
    } catch (error) {
      const message = `The key for ${provider} cannot be read from ${saved.store.name}`;
      throw new ConfigurationError(
        `${message}: ${getFileProblem(error)}`,
        `Save it again with: swink login ${provider}`,
      );
    }
  }

  /**
   * Saves the key of a provider, and replaces an earlier one.
   *
   * @throws {ConfigurationError} If no place can keep the key.
   */
  async save(provider: string, key: string): Promise<SaveResult> {
    const keyringProblem = await this.#saveInKeyring(provider, key);
    if (this.#keyring && keyringProblem === undefined) return { store: this.#keyring };
    try {
      await this.#files.write(provider, key);
      await removeIfExists(this.#getMark(provider));
    } catch (error) {
      throw new ConfigurationError(
        `The key was not saved in ${this.#directory}: ${getFileProblem(error)}`,
      );
    }
    return { store: this.#files, ...(keyringProblem !== undefined && { keyringProblem }) };
  }

  /** Returns the reason if the keyring exists and does not keep the key. */
  async #saveInKeyring(provider: string, key: string): Promise<string | undefined> {
    if (!this.#keyring) return undefined;
    try {
      await this.#keyring.write(provider, key);
      // Some keyrings report no failure.
      if (await this.#keyring.read(provider) !== key) return "it did not keep the key";
      await createPrivateDirectory(this.#directory);
      await Deno.writeTextFile(this.#getMark(provider), "", { mode: 0o600 });
      await this.#files.delete(provider);
      return undefined;
    } catch (error) {
      return getFileProblem(error);
    }
  }

  /**
   * Deletes the saved key of a provider from all places; returns whether there was one.
   *
   * @throws {ConfigurationError} If the key cannot be deleted.
   */
  async delete(provider: string): Promise<boolean> {
    const saved = this.list().filter((key) => key.provider === provider);
    try {
      // Without its mark, no later call would find it.
      if (this.isUnavailable(provider)) {
        throw new Error(`it is in ${UNAVAILABLE_KEYRING}`);
      }
      for (const { store } of saved) await store.delete(provider);
      await removeIfExists(this.#getMark(provider));
    } catch (error) {
      throw new ConfigurationError(
        `The key for ${provider} was not deleted: ${getFileProblem(error)}`,
      );
    }
    return saved.length > 0;
  }

  #getMark(provider: string): string {
    return join(this.#directory, `${provider}.keyring`);
  }
}

function listNames(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name);
  } catch {
    return [];
  }
}
