/**
 * Providers with more than one name.
 *
 * @module
 */

/** Names of the same provider. */
const ALIASES: readonly (readonly string[])[] = [["google", "gemini"]];

/** Returns all names of a provider, the given one first: `["gemini", "google"]` for `gemini`. */
export function getProviderAliases(provider: string): readonly string[] {
  const names = ALIASES.find((aliases) => aliases.includes(provider)) ?? [];
  return [provider, ...names.filter((name) => name !== provider)];
}
