/**
 * Environment variables of Deno, Node and similar runtimes.
 *
 * @module
 */

/** Returns the value of an environment variable, or `undefined` when it is unset or access is denied. */
export type ReadEnvironment = (name: string) => string | undefined;

/** Globals that hold the environment; a browser has neither. */
interface RuntimeGlobals {
  readonly Deno?: { readonly env?: { get(name: string): string | undefined } };
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Reads a variable of the runtime's environment. Returns `undefined` when the permission to read it is denied. */
export function readEnvironmentVariable(name: string): string | undefined {
  const globals: RuntimeGlobals = globalThis;
  try {
    return globals.Deno?.env ? globals.Deno.env.get(name) : globals.process?.env?.[name];
  } catch {
    return undefined;
  }
}
