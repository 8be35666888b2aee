/**
 * A place where keys of providers are kept.
 *
 * @module
 */

/** Keeps one key per provider. Keys are never arguments of a program, which other users of the system can read. */
export interface CredentialStore {
  /** Name of the place, for messages: `the keyring (secret-tool)`. */
  readonly name: string;
  /** Reads the key of a provider; `undefined` if there is none. Rejects if the place cannot be read. */
  read(provider: string): Promise<string | undefined>;
  /** Writes the key of a provider. Rejects if the place cannot be written. */
  write(provider: string, key: string): Promise<void>;
  /** Deletes the key of a provider, if there is one. Rejects if the place cannot be changed. */
  delete(provider: string): Promise<void>;
}
