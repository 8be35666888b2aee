/**
 * The built-in modules of Node.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";

/** The modules in use. Deno and Bun have them, too. */
interface BuiltinModules {
  readonly "node:async_hooks": typeof import("node:async_hooks");
  readonly "node:child_process": typeof import("node:child_process");
  readonly "node:crypto": typeof import("node:crypto");
  readonly "node:dns/promises": typeof import("node:dns/promises");
  readonly "node:fs": typeof import("node:fs");
  readonly "node:net": typeof import("node:net");
  readonly "node:os": typeof import("node:os");
  readonly "node:path": typeof import("node:path");
  readonly "node:sqlite": typeof import("node:sqlite");
  readonly "node:url": typeof import("node:url");
  readonly "node:v8": typeof import("node:v8");
  readonly "node:worker_threads": typeof import("node:worker_threads");
}

/** Called for an event of the process, such as a signal. */
export type ProcessListener = (...values: unknown[]) => void;

/** The part of `process` in use. */
export interface NodeProcess {
  /** The options that Node takes from its environment; not available on Bun. */
  readonly allowedNodeEnvironmentFlags?: ReadonlySet<string>;
  readonly arch: string;
  /** The program, its main module and the arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  readonly pid: number;
  readonly platform: string;
  /** Memory that the process can take; within a container, that of the container. */
  availableMemory?(): number;
  /** Limit of the container; 0 or more than the memory of the machine for none. */
  constrainedMemory?(): number;
  cwd(): string;
  /** Names of the events that have listeners. */
  eventNames?(): (string | symbol)[];
  exit(code: number): never;
  getBuiltinModule?(name: string): unknown;
  /** Not available on Windows. */
  getuid?(): number;
  kill(pid: number, signal: number | string): void;
  listeners?(event: string): ProcessListener[];
  readonly memoryUsage?: {
    /** Memory of the process in bytes. */
    rss(): number;
  };
  removeListener?(event: string, listener: ProcessListener): unknown;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(bytes: Uint8Array): unknown };
  uptime(): number;
}

/** Returns the process of Node, which Deno and Bun have, too; `undefined` in a browser. */
export function getNodeProcess(): NodeProcess | undefined {
  return (globalThis as { readonly process?: NodeProcess }).process;
}

/**
 * Returns a built-in module; `undefined` if the runtime does not have it.
 *
 * There is no `import` of these modules, so that every runtime can load the library, and bundlers for browsers can
 * bundle it. Deno loads a module on first use: `node:fs` takes 35 ms.
 */
export function findBuiltinModule<Name extends keyof BuiltinModules>(
  name: Name,
): BuiltinModules[Name] | undefined {
  return getNodeProcess()?.getBuiltinModule?.(name) as BuiltinModules[Name] | undefined;
}

/**
 * Returns a built-in module.
 *
 * @throws {BadRequestError} If the runtime does not have it.
 */
export function getBuiltinModule<Name extends keyof BuiltinModules>(
  name: Name,
): BuiltinModules[Name] {
  const module = findBuiltinModule(name);
  if (module) return module;
  throw new BadRequestError(
    `This runtime has no ${name}: files and processes need Deno 2.8, Node 20.16 or later, or Bun`,
  );
}
