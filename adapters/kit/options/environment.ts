/**
 * Environment variables of Deno, Node and similar runtimes.
 *
 * @module
 */

/** Returns the value of an environment variable, or `undefined` when it is unset or access is denied. */
export type ReadEnvironment = (name: string) => string | undefined;

/** Globals that hold the environment; a browser has neither. */
interface RuntimeGlobals {
  readonly Deno?: {
    readonly env?: { get(name: string): string | undefined };
    readonly permissions?: {
      querySync(descriptor: { name: "env"; variable: string }): { readonly state: string };
    };
  };
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

/** Whether the program has no permission to read a variable, as Deno programs without `--allow-env`. */
export function isEnvironmentVariableDenied(name: string): boolean {
  const { Deno: deno }: RuntimeGlobals = globalThis;
  const permission = deno?.permissions?.querySync({ name: "env", variable: name });
  return permission !== undefined && permission.state !== "granted";
}
