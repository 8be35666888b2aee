/**
 * Environment variables, wherever there are any.
 *
 * @module
 */

/** Port: the value of an environment variable; `undefined` when it is not set, or must not be read. */
export type ReadEnvironment = (name: string) => string | undefined;

/** What runtimes offer; a browser offers neither. */
interface RuntimeGlobals {
  readonly Deno?: { readonly env?: { get(name: string): string | undefined } };
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Reads a variable from the runtime's own environment. A permission that is denied counts as not set. */
export function readEnvironmentVariable(name: string): string | undefined {
  const host: RuntimeGlobals = globalThis;
  try {
    return host.Deno?.env ? host.Deno.env.get(name) : host.process?.env?.[name];
  } catch {
    return undefined;
  }
}
